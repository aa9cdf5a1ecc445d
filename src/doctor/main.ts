/**
 * Entry of `pi-session-mcp-doctor`. It imports nothing when it starts, so that it
 * can still say what is wrong when its own build is damaged or this Node too old.
 */
import('./cli.ts').then(({ runCli }) => runCli()).catch(reportUnavailable);

/** By hand, in the form of every other result: nothing else of the doctor may be needed. */
function reportUnavailable(): void {
  const remediation =
    'The doctor itself cannot be loaded: files of the build are missing, or this Node is older than 22.19. Install the package again; in a checkout, run "npm ci" and "npm run build".';
  const check = { id: 'doctor_cli_unavailable', severity: 'error', subject: 'doctor', remediation };
  const result = { schemaVersion: 1, ok: false, checks: [check], exitCode: 2 };
  const text = process.argv.includes('--json')
    ? JSON.stringify(result, undefined, 2)
    : `pi-session-mcp: 1 error\n\nerror    ${check.id}  ${check.subject}\n         ${remediation}`;
  // A reader that has gone away is no reason for a stack trace.
  process.stdout.on('error', () => {});
  process.stdout.write(`${text}\n`);
  process.exitCode = result.exitCode;
}

export {};
