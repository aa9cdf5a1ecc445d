/** Closes a CI run with one plain line. `node scripts/ci-summary.mjs <vitest.json> <status of npm test>` */
import { readFileSync } from 'node:fs';

const [path = '', status = '1'] = process.argv.slice(2);

function readResults() {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

const results = readResults();
const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
const passed = results?.numPassedTests ?? 0;
// A test file that cannot even be loaded has no failed tests of its own; and a failed build, check or gate is one too.
const broken = (results?.testResults ?? []).filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
const counted = (results?.numFailedTests ?? 0) + broken.length;
const isBroken = status !== '0' || passed === 0;
const failed = counted === 0 && isBroken ? 1 : counted;

if (!results) console.log('no tests ran: see the failure above');
else if (counted === 0 && failed > 0) console.log('every test passed, but another step failed: see above');
for (const test of results?.testResults.flatMap((file) => file.assertionResults) ?? []) {
  if (test.status === 'failed') console.log(`failed: ${test.fullName}`);
  if (test.status === 'pending' || test.status === 'skipped') console.log(`skipped: ${test.fullName}`);
}
for (const file of broken) console.log(`failed to load: ${file.name}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
