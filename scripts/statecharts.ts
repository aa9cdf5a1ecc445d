/** Writes docs/statecharts from the charts; with `--check` only says whether the pages are out of date. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chartPage, indexPage } from '../test/kit/chart-page.ts';
import { loadCharts } from './charts.ts';

const folder = resolve(import.meta.dirname, '..', 'docs', 'statecharts');
const charts = await loadCharts();
const pages = new Map([
  ['index.md', indexPage(charts)],
  ...Object.entries(charts).map(([name, machine]) => [`${name}.md`, chartPage(name, machine)] as const),
]);

const existing = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.md')) : [];
const orphans = existing.filter((file) => !pages.has(file));
const changed = [...pages].filter(
  ([file, page]) => !existing.includes(file) || readFileSync(join(folder, file), 'utf8') !== page,
);

if (process.argv.includes('--check')) {
  const drift = [...changed.map(([file]) => file), ...orphans];
  if (drift.length > 0) {
    console.error(`docs/statecharts is out of date: ${drift.join(', ')}\nRun: npm run docs:statecharts`);
    process.exitCode = 1;
  }
} else {
  mkdirSync(folder, { recursive: true });
  for (const [file, page] of changed) writeFileSync(join(folder, file), page);
  for (const file of orphans) rmSync(join(folder, file));
  console.log(`docs/statecharts: ${pages.size} pages, ${changed.length} written, ${orphans.length} removed`);
}
