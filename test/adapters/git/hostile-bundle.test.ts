/** Bundles that nobody makes by accident: refused as a whole, or name by name, and harmless either way. */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { bundle, Forge, forgePack, number } from './forge.ts';
import { differences, type Lab, layOut, NAME, plant, type Snapshot, trespasses } from './lab.ts';

let lab: Lab;
let forge: Forge;
let before: Snapshot;

/** Whatever the operator's own configuration could run. */
function arm({ operator, checkout, payload }: Pick<Lab, 'operator' | 'checkout' | 'payload'>): void {
  for (const hook of ['reference-transaction', 'post-index-change', 'pre-auto-gc', 'post-checkout', 'post-rewrite']) {
    plant(join(checkout, '.git/hooks', hook), `exec '${payload}' ${hook}\n`);
  }
  for (const name of [
    'core.fsmonitor',
    'core.alternateRefsCommand',
    'diff.external',
    'core.sshCommand',
    'core.pager',
  ]) {
    operator('config', name, payload);
  }
  operator('config', 'gc.auto', '1');
  operator('config', `url.ext::${payload}.insteadOf`, '/');
}

beforeEach(() => {
  lab = layOut({ prepare: arm });
  forge = new Forge(lab);
  before = lab.snapshot();
});

function expectHarmless(): void {
  expect(lab.hasRun()).toBe(false);
  const folder = join(lab.directory, 'quarantine');
  expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
}

function expectUntouched(): void {
  expect(differences(before, lab.snapshot())).toEqual([]);
  expectHarmless();
}

describe('refused as a whole', () => {
  const whole = () => forge.named('refs/heads/x');
  const cut = (bytes: Buffer, at: number) => bytes.subarray(0, at);
  const bloated = (result: number) => Buffer.concat([number(4), number(result), Buffer.from([0x90, 4])]);

  test.each<[string, string, () => Buffer]>([
    ['nothing', 'bundle_malformed', () => Buffer.alloc(0)],
    ['no bundle', 'bundle_malformed', () => randomBytes(4096)],
    ['a header without a pack', 'bundle_malformed', () => cut(whole(), whole().indexOf('PACK'))],
    ['half a bundle', 'bundle_malformed', () => cut(whole(), whole().length - 30)],
    ['half a header', 'bundle_malformed', () => cut(whole(), 40)],
    ['one byte more', 'bundle_malformed', () => Buffer.concat([whole(), Buffer.from('x')])],
    [
      'a version with capabilities',
      'bundle_malformed',
      () =>
        bundle({
          refs: [[forge.base, 'refs/heads/x']],
          pack: forge.packOf(forge.base),
          signature: '# v3 git bundle\n@filter=blob:none',
        }),
    ],
    ['a name twice', 'bundle_malformed', () => forge.named('refs/heads/x', 'refs/heads/x')],
    ['no name', 'bundle_malformed', () => forge.named()],
    [
      'a huge header',
      'too_many_refs',
      () => Buffer.concat([Buffer.from('# v2 git bundle\n'), Buffer.alloc(2 ** 22, 'x'), Buffer.from('\n\n')]),
    ],
    [
      '5,000 refs',
      'too_many_refs',
      () => forge.named(...Array.from({ length: 5000 }, (_, index) => `refs/heads/b${index}`)),
    ],
    [
      '65 refs',
      'too_many_refs',
      () => forge.named(...Array.from({ length: 65 }, (_, index) => `refs/heads/b${index}`)),
    ],
    [
      'a blob of a gibibyte',
      'objects_too_large',
      () =>
        bundle({
          refs: [[forge.base, 'refs/heads/x']],
          pack: forgePack([{ type: 'blob', size: 2 ** 30, data: Buffer.alloc(2 ** 20) }]),
        }),
    ],
    [
      'a delta that unfolds to a gibibyte',
      'objects_too_large',
      () =>
        bundle({
          refs: [[forge.base, 'refs/heads/x']],
          pack: forgePack([{ type: 'delta', of: forge.blob('four'), data: bloated(2 ** 30) }]),
        }),
    ],
    [
      'more than it says',
      'bundle_malformed',
      () =>
        bundle({
          refs: [[forge.base, 'refs/heads/x']],
          pack: forgePack([{ type: 'blob', size: 10, data: Buffer.alloc(2 ** 20) }]),
        }),
    ],
    [
      'more objects than may be',
      'objects_too_large',
      () => bundle({ refs: [[forge.base, 'refs/heads/x']], pack: forgePack([], 1_000_000) }),
    ],
    [
      'fewer objects than it says',
      'bundle_malformed',
      () => bundle({ refs: [[forge.base, 'refs/heads/x']], pack: forgePack([], 3) }),
    ],
    [
      'an object of no type',
      'bundle_malformed',
      () =>
        bundle({
          refs: [[forge.base, 'refs/heads/x']],
          pack: forgePack([{ type: 'nonsense', data: Buffer.from('x') }]),
        }),
    ],
    [
      'a wrong hash at its end',
      'objects_refused',
      () => {
        const bytes = Buffer.from(whole());
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
        return bytes;
      },
    ],
    [
      'a prerequisite that nobody has',
      'prerequisites_refused',
      () => {
        const commit = forge.plain();
        return bundle({ refs: [[commit, 'refs/heads/x']], pack: forge.pack(commit), prerequisites: ['1'.repeat(40)] });
      },
    ],
    [
      'a prerequisite of the operator’s own',
      'prerequisites_refused',
      () => {
        const own = lab.operator('commit-tree', '-m', 'private', 'HEAD^{tree}').trim();
        before = lab.snapshot();
        const commit = forge.plain();
        return bundle({ refs: [[commit, 'refs/heads/x']], pack: forge.pack(commit), prerequisites: [own] });
      },
    ],
    [
      'missing objects',
      'objects_refused',
      () => {
        const commit = forge.commit(forge.tree(['100644', 'x', forge.blob('left out')]));
        return bundle({ refs: [[commit, 'refs/heads/x']], pack: forge.packOf(commit), prerequisites: [forge.base] });
      },
    ],
  ])('%s: %s', async (_, code, make) => {
    const bytes = make();
    expect(await forge.import(bytes)).toEqual({ ok: false, code });
    expectUntouched();
  });

  test('more than the caps allow', async () => {
    const caps = { bundleBytes: 10_000, objects: 10, objectBytes: 100, totalBytes: 150 };
    const blobs = (...sizes: number[]) =>
      bundle({
        refs: [[forge.base, 'refs/heads/x']],
        pack: forgePack(sizes.map((size) => ({ type: 'blob' as const, data: Buffer.alloc(size) }))),
      });
    const codes = [blobs(101), blobs(100, 51), Buffer.alloc(10_001)].map(async (bytes) => {
      const outcome = await forge.import(bytes, caps);
      return outcome.ok ? 'ok' : outcome.code;
    });
    expect(await Promise.all(codes)).toEqual(['objects_too_large', 'objects_too_large', 'bundle_too_large']);
    expectUntouched();
  });
});

describe('objects that git would check out somewhere else', () => {
  type Entry = readonly [mode: string, name: string, content: string];
  test.each<[string, ...Entry[]]>([
    ['.git', ['100644', '.git', 'x']],
    ['.GiT', ['100644', '.GiT', 'x']],
    ['GIT~1', ['100644', 'GIT~1', 'x']],
    ['..', ['100644', '..', 'x']],
    ['a path', ['100644', 'a/../../x', 'x']],
    ['a name twice', ['100644', 'a', 'x'], ['100644', 'a', 'y']],
    ['a mode that is none', ['100664', 'a', 'x']],
    ['.gitmodules as a link', ['120000', '.gitmodules', 'elsewhere']],
    ['.gitattributes as a link', ['120000', '.gitattributes', 'elsewhere']],
    [
      'a submodule’s address as an option',
      ['100644', '.gitmodules', '[submodule "a"]\n path = a\n url = -u./payload\n'],
    ],
    ['a submodule’s name as a path', ['100644', '.gitmodules', '[submodule "../../x"]\n path = a\n url = ./x\n']],
  ])('%s', async (_, ...entries) => {
    const tree = forge.tree(...entries.map(([mode, name, content]) => [mode, name, forge.blob(content)] as const));
    const commit = forge.commit(tree);
    const blobs = entries.map(([, , content]) => forge.blob(content));
    const bytes = bundle({ refs: [[commit, 'refs/heads/x']], pack: forge.packOf(commit, tree, ...new Set(blobs)) });
    expect(await forge.import(bytes)).toEqual({ ok: false, code: 'objects_refused' });
    expectUntouched();
  });
});

describe('names', () => {
  const heads = (names: readonly string[]) => names.map((name) => `refs/heads/${name}`);
  const PLAIN = [
    '-x',
    '--upload-pack=touch',
    '@',
    'a$(id)',
    'a;id',
    'a`id`',
    "a'b",
    'a"b',
    'a|b',
    'a&b',
    'a<b>',
    'a b',
  ];
  const GIT = [
    '..',
    'a..b',
    '.a',
    'a/.b',
    'a.lock',
    'a.LOCK/b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a[',
    'a\\b',
    'a@{b',
    'a.',
    'a//b',
    '/a',
    'a/',
  ];
  const BYTES = ['a\x1b[2Jb', 'a\x07', 'a\tb', 'a\rb', 'a\x7f', 'a\0b', '\xff\xfe', '\xe2\x80\xae', 'a'.repeat(101)];
  const RESERVED = [
    'HEAD',
    'head/x',
    'refs/heads/main',
    'stash',
    'con',
    'a/NUL.txt',
    'a'.repeat(40),
    'main-wip',
    'main-WIP',
  ];
  const ELSEWHERE = [
    'refs/tags/v1',
    'refs/replace/x',
    'refs/remotes/origin/x',
    'refs/pi-export/x',
    'HEAD',
    'refs/heads',
    'x',
  ];

  test.each<[string, string[], object]>([
    ['of an option, or of a shell', heads(PLAIN), { name: PLAIN.length }],
    ['that git knows better', heads(GIT), { name: GIT.length }],
    ['with other bytes than letters, and long ones', heads(BYTES), { name: BYTES.length }],
    ['that mean something else', heads(RESERVED), { reserved: RESERVED.length }],
    ['elsewhere', ELSEWHERE, { name: ELSEWHERE.length }],
    ['that differ in case', heads(['a', 'A', 'b/c', 'B/d', 'e', 'e/f']), { twin: 2, conflict: 2 }],
  ])('%s', async (_, names, refused) => {
    const outcome = await forge.import(forge.named(...names, 'refs/heads/good', 'refs/pi-export/good-wip'));
    expect(outcome).toMatchObject({ ok: true, refused });
    const good = ['good', 'good-wip', ...(names.includes('refs/heads/b/c') ? ['B/d', 'b/c'] : [])];
    expect(Object.keys(lab.landed()).sort()).toEqual(good.sort());
    expect(trespasses(before, lab.snapshot())).toEqual([]);
    expectHarmless();
  });

  test('of what is no commit, or of another history', async () => {
    const [stranger, good, blob] = [forge.commit(forge.tree(), null), forge.plain(), forge.blob('x')];
    const tree = forge.git(['rev-parse', `${good}^{tree}`]);
    const tag = forge.git(['mktag'], `object ${good}\ntype commit\ntag t\ntagger x <x@localhost> 0 +0000\n\nx\n`);
    const pack = forge.packOf(stranger, good, blob, tree, tag, forge.tree(), forge.blob('plain'));
    const refs = { a: stranger, b: blob, c: tree, d: tag, good };
    const bytes = bundle({
      refs: Object.entries(refs).map(([name, id]) => [id, `refs/heads/${name}`]),
      prerequisites: [forge.base],
      pack,
    });
    expect(await forge.import(bytes)).toMatchObject({ ok: true, refused: { unrelated: 4 } });
    expect(lab.landed()).toEqual({ good });
    // What no accepted branch reaches does not come along.
    for (const id of [stranger, blob, tag]) expect(() => lab.operator('cat-file', '-e', id)).toThrow();
    expect(trespasses(before, lab.snapshot())).toEqual([]);
    expectHarmless();
  });
});

describe('landing', () => {
  test('replaces a ref that points elsewhere, and follows none', async () => {
    lab.operator('-c', 'core.hooksPath=/dev/null', 'symbolic-ref', `refs/remotes/writer-${NAME}/x`, 'refs/heads/main');
    const main = lab.operator('rev-parse', 'main');
    before = lab.snapshot();
    const commit = forge.plain();
    expect(await forge.import(forge.named('refs/heads/x'))).toMatchObject({ ok: true });
    expect(lab.operator('rev-parse', 'main')).toBe(main);
    expect(lab.landed()).toEqual({ x: commit });
    expect(trespasses(before, lab.snapshot())).toEqual([]);
  });

  test('moves all refs or none', async () => {
    lab.operator('-c', 'core.hooksPath=/dev/null', 'update-ref', `refs/remotes/writer-${NAME}/z`, 'HEAD');
    writeFileSync(join(lab.checkout, `.git/refs/remotes/writer-${NAME}/z.lock`), '');
    const landed = lab.landed();
    expect(await forge.import(forge.named('refs/heads/a', 'refs/heads/z'))).toEqual({
      ok: false,
      code: 'landing_failed',
    });
    expect(lab.landed()).toEqual(landed);
    expectHarmless();
  });

  test('says what deserves a look', async () => {
    const blob = forge.blob('x');
    const entries = [
      ['100644', '.envrc', blob],
      ['100755', 'Makefile', blob],
      ['100644', 'a\x1bb', blob],
      ['120000', 'link', blob],
      ['160000', 'module', forge.base],
      ['100644', 'package.json', blob],
      ['100644', 'plain.txt', blob],
    ] as const;
    const commit = forge.commit(forge.tree(...entries));
    const pack = forge.pack(commit);
    const outcome = await forge.import(bundle({ refs: [[commit, 'refs/heads/x']], pack, prerequisites: [forge.base] }));
    expect(outcome).toMatchObject({
      ok: true,
      // Two files of the baseline are gone.
      refs: [
        { files: 9, isTruncated: false, flags: { symlink: 1, gitlink: 1, executable: 1, toolFile: 3, oddName: 1 } },
      ],
    });
    expectHarmless();
  });

  test('neither the caller’s environment nor the checkout’s replacements matter', async () => {
    const [head, parent] = [forge.base, lab.operator('rev-parse', 'HEAD~1').trim()];
    const tree = lab.operator('hash-object', '-t', 'tree', '-w', '/dev/null').trim();
    const empty = lab.operator('commit-tree', '-m', 'empty', tree).trim();
    writeFileSync(join(lab.checkout, '.git/info/grafts'), `${head}\n`);
    const commit = forge.plain();
    const parts = { refs: [[commit, 'refs/heads/g']] as const, pack: forge.pack(commit) };
    expect(await forge.import(bundle({ ...parts, prerequisites: [parent] }))).toMatchObject({ ok: true });
    lab.operator('-c', 'core.hooksPath=/dev/null', 'replace', head, empty);
    before = lab.snapshot();
    const hostile = {
      GIT_DIR: '/nowhere',
      GIT_EXTERNAL_DIFF: lab.payload,
      GIT_CONFIG_PARAMETERS: `'core.hooksPath=x'`,
    };
    Object.assign(process.env, hostile);
    try {
      expect(await forge.import(forge.named('refs/heads/x'))).toMatchObject({ ok: true, refs: [{ files: 3 }] });
    } finally {
      for (const name of Object.keys(hostile)) delete process.env[name];
    }
    expect(trespasses(before, lab.snapshot())).toEqual([]);
    expectHarmless();
  });
});
