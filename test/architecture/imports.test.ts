import { build, type Plugin } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { read, repositoryFiles, root } from './repository.ts';
import { findings, type Sources } from './rules.ts';
import { scan } from './source-scan.ts';

const files = repositoryFiles().filter((file) => /^src\/.*\.ts$/.test(file));
const sources: Sources = new Map(files.map((file) => [file, read(file)]));

test('the source keeps the directions of its arrows', () => {
  expect(files.length).toBeGreaterThan(5);
  expect(findings(sources)).toEqual([]);
});

test('ports are nothing at run time', async () => {
  const ports = files.filter((file) => file.startsWith('src/ports/'));
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ports,
    outdir: 'nowhere',
    format: 'esm',
    write: false,
    minify: true,
  });
  expect(outputFiles.filter(({ text }) => text.trim() !== '').map(({ path }) => path)).toEqual([]);
});

test('the scanner sees what the compiler sees', async () => {
  const everythingIsExternal: Plugin = {
    name: 'everything-is-external',
    setup: ({ onResolve }) =>
      onResolve({ filter: /.*/ }, ({ kind }) => (kind === 'entry-point' ? null : { external: true })),
  };
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: 'nowhere',
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    plugins: [everythingIsExternal],
  });
  const unique = (specifiers: readonly string[]) => [...new Set(specifiers)].sort();
  for (const [file, text] of sources) {
    const atRunTime = scan(text).imports.filter(({ typeOnly }) => !typeOnly);
    const bundled = metafile.inputs[file]?.imports.map(({ path }) => path) ?? [];
    expect(unique(atRunTime.map(({ specifier }) => specifier)), file).toEqual(unique(bundled));
  }
});

const planted: [file: string, text: string, finding: RegExp][] = [
  ['src/machines/a.ts', "import { z } from 'zod';", /charts import xstate alone/],
  ['src/machines/a.ts', "import type { G } from 'xstate/graph';", /charts import xstate alone/],
  ['src/machines/a.ts', "import { hash } from 'node:crypto';", /charts import xstate alone/],
  ['src/machines/x/a.ts', "import type { P } from '../../adapters/fs/p.ts';", /charts import ports and charts/],
  ['src/machines/a.ts', "import type { C } from '../config/c.ts';", /charts import ports and charts/],
  ['src/machines/a.ts', "import { port } from '../ports/p.ts';", /ports are types only/],
  ['src/machines/a.ts', 'const at = Date.now();', /Date is used/],
  ['src/machines/a.ts', 'const at = () => Math.random();', /Math\.random is used/],
  ['src/machines/a.ts', 'setTimeout(go, 5);', /setTimeout is used/],
  ['src/machines/a.ts', 'if (process.env.X) go();', /process is used/],
  ['src/machines/a.ts', 'console.log(1);', /console is used/],
  ['src/ports/a.ts', "import type { z } from 'zod';", /nothing from outside/],
  ['src/ports/a.ts', "import type { C } from '../config/c.ts';", /ports import ports/],
  ['src/ports/a.ts', "import { b } from './b.ts';", /ports are types only/],
  ['src/config/a.ts', "import { readFile } from 'node:fs/promises';", /does no I\/O/],
  ['src/config/a.ts', "import { x } from '../adapters/fs/x.ts';", /configuration imports ports/],
  ['src/adapters/fs/a.ts', "import type { Actor } from 'xstate';", /decide no lifecycle/],
  ['src/adapters/fs/a.ts', "export { go } from '../process/go.ts';", /never each other/],
  ['src/adapters/mcp/b/a.ts', "import { m } from '../../../machines/m.ts';", /never each other or their callers/],
  ['src/adapters/fs/a.ts', "const x = await import('../../app/x.ts');", /never each other or their callers/],
  ['src/app/a.ts', "import { s } from '../setup/main.ts';", /does not know its callers/],
  ['src/setup/a.ts', "import { s } from '../main.ts';", /composition root/],
  ['src/doctor/a.ts', "import { c } from '../adapters/mcp/c.ts';", /the doctor is offline/],
  ['src/doctor/a.ts', "import '@earendil-works/pi-coding-agent';", /the doctor is offline/],
  ['src/setup/a.ts', 'const x: any = 1;', /uses any/],
  ['src/setup/a.ts', 'const x = y as any;', /uses any/],
  ['src/setup/a.ts', 'const x = new Map<any>();', /uses any/],
  ['src/setup/a.ts', '// biome-ignore lint: because', /suppresses a check/],
  ['src/setup/a.ts', '/* @ts-expect-error */', /suppresses a check/],
  ['src/setup/a.ts', '// @ts-ignore', /suppresses a check/],
  ['src/setup/a.ts', '/* eslint-disable */', /suppresses a check/],
  ['src/setup/a.ts', 'x;\n'.repeat(401), /more than 400 lines/],
];

describe('each rule can fail', () => {
  test.each(planted)('%s: %s', (file, text, finding) => {
    expect(findings(new Map([[file, text]])).join('\n')).toMatch(finding);
  });

  test('import cycles, longer ones and those of types included', () => {
    const loop = new Map([
      ['src/setup/a.ts', "import { b } from './b.ts';"],
      ['src/setup/b.ts', "import type { C } from './c.ts';"],
      ['src/setup/c.ts', "export * from './a.ts';"],
    ]);
    expect(findings(loop)).toEqual(['src/setup/a.ts: import cycle through src/setup/c.ts']);
  });

  test('a doctor that goes online through somebody else', () => {
    const detour = new Map([
      ['src/doctor/a.ts', "import { app } from '../app/b.ts';"],
      ['src/app/b.ts', "import { c } from '../adapters/mcp/c.ts';"],
    ]);
    expect(findings(detour)).toEqual(['src/doctor/a.ts: the doctor is offline, but reaches src/adapters/mcp/c.ts']);
  });
});

test('what is allowed is not found', () => {
  const innocent = new Map([
    [
      'src/machines/session/a.ts',
      `// Date, process and : any in a comment; import { x } from 'zod';
      import { setup } from 'xstate';
      import type { P } from '../../ports/p.ts';
      import { s } from '../shared/s.ts';
      export const text = "console.log(Date.now()) as any; import { y } from 'zod'";
      export const pattern = /process|Date's/; export const later = 'x';
      export const state = { process: 1, at: s.process.Date, company: \`any [] \${s}\` } as const;
      export const processMachine = setup({});`,
    ],
    [
      'src/adapters/mcp/tools/a.ts',
      `import { b } from '../b.ts';
      import {
        type C,
        c,
      } from '../../../config/c.ts';
      export type Sdk = import('@modelcontextprotocol/sdk').Thing;
      export const load = () => import('node:fs');`,
    ],
  ]);
  expect(findings(innocent)).toEqual([]);
});
