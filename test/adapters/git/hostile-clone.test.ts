/**
 * Clones that their writer has turned into traps. Whatever the product does with
 * one, nothing of it runs on the host, and the checkout stays as it was.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Lab, openLab, SIGNAL, trespasses } from './lab.ts';

/** As the writer: $1 is a command that tells where it runs, $2 the operator's checkout, which a real boundary hides. */
const CONFIG = 'set_() { git config --file "$GIT_DIR/config" "$@"; }';
const WORK = 'echo work >>file; git add file 2>/dev/null || true';

const TRAPS: Readonly<Record<string, string>> = {
  hooks: `for hook in post-index-change reference-transaction pre-commit post-checkout pre-auto-gc post-rewrite; do
      printf '#!/bin/sh\\nexec "%s" %s\\n' "$1" $hook >"$GIT_DIR/hooks/$hook"; chmod +x "$GIT_DIR/hooks/$hook"; done`,
  'a file system monitor': `${CONFIG}; set_ core.fsmonitor "$1"`,
  'a hooks path': `${CONFIG}; set_ core.hooksPath "$(dirname "$1")"`,
  'filter drivers': `${CONFIG}; for k in clean smudge process; do set_ filter.x.$k "$1"; done
      echo '* filter=x' >.gitattributes`,
  'text conversion and external diffs': `${CONFIG}; set_ diff.x.textconv "$1"; set_ diff.x.command "$1"; set_ diff.external "$1"
      set_ merge.x.driver "$1"; echo '* diff=x merge=x' >.gitattributes`,
  'attributes of its own': `${CONFIG}; set_ filter.x.clean "$1"; mkdir -p "$GIT_DIR/info"
      echo '* filter=x diff=x' >"$GIT_DIR/info/attributes"`,
  'included configuration': `${CONFIG}; set_ include.path ../../work/evil; printf '[core]\\n\\tfsmonitor = %s\\n' "$1" >evil`,
  'configuration of a worktree': `${CONFIG}; set_ core.repositoryFormatVersion 1; set_ extensions.worktreeConfig true
      printf '[core]\\n\\tfsmonitor = %s\\n' "$1" >"$GIT_DIR/config.worktree"`,
  'another common directory': `cp -r "$GIT_DIR" ../evil; git config --file ../evil/config core.fsmonitor "$1"
      echo ../evil >"$GIT_DIR/commondir"`,
  'a file in place of .git': `cp -r "$GIT_DIR" ../evil; git config --file ../evil/config core.fsmonitor "$1"
      rm -rf .git; echo 'gitdir: ../evil' >.git`,
  'a link in place of .git': `rm -rf .git; ln -s "$2/.git" .git`,
  'links in place of the pinned files': `rm -rf "$GIT_DIR/config" "$GIT_DIR/hooks"; ln -s "$2/.git/config" "$GIT_DIR/config"
      ln -s "$2/.git/hooks" "$GIT_DIR/hooks"`,
  alternates: `mkdir -p "$GIT_DIR/objects/info"; echo "$2/.git/objects" >"$GIT_DIR/objects/info/alternates"`,
  'alternates over the network': `echo "http://127.0.0.1:1/x" >"$GIT_DIR/objects/info/http-alternates"
      echo "ext::$1" >"$GIT_DIR/objects/info/alternates"`,
  'hard links to objects': `cd "$2/.git/objects"; for o in ??/*; do mkdir -p "$GIT_DIR/objects/\${o%/*}"
      ln "$o" "$GIT_DIR/objects/$o" 2>/dev/null || true; done`,
  'replaced objects': `c=$(git commit-tree -m other HEAD^{tree}); git replace HEAD $c
      git replace $(git rev-parse HEAD:file) $(echo replaced | git hash-object -w --stdin)`,
  grafts: `mkdir -p "$GIT_DIR/info"; git rev-parse HEAD >"$GIT_DIR/info/grafts"`,
  'a shallow boundary': `git rev-parse HEAD >"$GIT_DIR/shallow"`,
  'refs that are links': `ln -s "$2/.git/refs/heads/main" "$GIT_DIR/refs/heads/outside"; ln -s /etc/passwd "$GIT_DIR/refs/heads/p"
      mkdir -p "$GIT_DIR/refs/x"; ln -s "$2/.git/refs/heads" "$GIT_DIR/refs/heads/all"`,
  'refs that point at others': `echo 'ref: refs/heads/nowhere' >"$GIT_DIR/refs/heads/s"; echo 'ref: ../../../x' >"$GIT_DIR/refs/heads/t"
      git commit --quiet --allow-empty -m x; git symbolic-ref refs/heads/u HEAD`,
  'packed refs by hand': `id=$(git commit-tree -p HEAD -m packed HEAD^{tree}); { echo '# pack-refs with: peeled fully-peeled sorted '
      for n in refs/heads/-x refs/heads/../../../x refs/heads/a..b 'refs/heads/a b' refs/heads/A refs/heads/a refs/heads/x.lock; do
      echo "$id $n"; done; printf '%s refs/heads/e\\033[2J\\n' $id; } >"$GIT_DIR/packed-refs"`,
  'names with control characters': `id=$(git commit-tree -p HEAD -m x HEAD^{tree}); printf '%s\\n' $id >"$(printf '%s/refs/heads/a\\tb\\033' "$GIT_DIR")"
      printf '%s\\n' $id >"$(printf '%s/refs/heads/\\342\\200\\256x' "$GIT_DIR")"`,
  'names that look like options': `id=$(git commit-tree -p HEAD -m x HEAD^{tree}); for n in -x --upload-pack=touch --all; do
      git update-ref "refs/heads/$n" $id; done`,
  'names that differ in case': `id=$(git commit-tree -p HEAD -m x HEAD^{tree}); git update-ref refs/heads/twin $id; git update-ref refs/heads/TWIN $id`,
  '5,000 refs': `id=$(git commit-tree -p HEAD -m x HEAD^{tree}); seq 5000 | sed "s,^,$id refs/heads/b," >"$GIT_DIR/packed-refs"`,
  '5,000 tags and exports': `id=$(git commit-tree -p HEAD -m x HEAD^{tree}); { seq 5000 | sed "s,^,$id refs/pi-export/t,"
      seq 5000 | sed "s,^,$id refs/tags/t,"; } >"$GIT_DIR/packed-refs"`,
  'a promise of objects': `${CONFIG}; set_ core.repositoryFormatVersion 1; set_ extensions.partialClone evil
      set_ remote.evil.promisor true; set_ remote.evil.url "$2"; set_ remote.evil.uploadpack "$1"
      git commit --quiet --allow-empty -m x; rm -f "$GIT_DIR"/objects/$(git rev-parse HEAD | sed 's,..,&/,')`,
  'signatures, pagers, editors, helpers': `${CONFIG}; set_ commit.gpgSign true; set_ log.showSignature true; set_ gpg.program "$1"
      for k in core.pager core.editor core.sshCommand core.askPass core.alternateRefsCommand credential.helper uploadpack.packObjectsHook
      do set_ $k "$1"; done; set_ alias.status "!$1"; set_ alias.bundle "!$1"`,
  'a remote that runs': `${CONFIG}; set_ protocol.ext.allow always; set_ remote.origin.url "ext::$1"; set_ remote.origin.fetch '+refs/*:refs/*'
      set_ url."ext::$1".insteadOf /`,
  'a repository inside': `(unset GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_CONFIG_GLOBAL; git init --quiet sub; cd sub
      git -c user.name=x -c user.email=x commit --quiet --allow-empty -m x; git config core.fsmonitor "$1"); git add sub 2>/dev/null`,
  'an index that is locked': `touch "$GIT_DIR/index.lock" "$GIT_DIR/HEAD.lock" "$GIT_DIR/packed-refs.lock"`,
  'an index that is garbage': `echo garbage >"$GIT_DIR/index"`,
  'a HEAD that is none': `echo nonsense >"$GIT_DIR/HEAD"`,
  'no history': `git checkout --quiet --orphan empty; echo x >x`,
  'directories that are closed, and files that wait': `mkdir -p c/d; touch c/d/e; mkfifo pipe; chmod 000 c/d c; mkdir "$(printf 'odd\\377')"`,
  'tool files': `mkdir -p .vscode .github/workflows .pi/extensions; echo "$1" >.envrc; echo '{"scripts":{"prepare":"x"}}' >package.json
      touch .vscode/tasks.json .github/workflows/x.yml .pi/extensions/x.js; ln -s "$2/.git/config" link`,
};

/** Everything that the product ever does with a clone. */
async function goThrough({ writer }: Lab): Promise<void> {
  await writer.status(SIGNAL);
  await writer.collect(SIGNAL);
  await writer.hasWork(SIGNAL);
  await writer.reset('HEAD', SIGNAL);
  await writer.collect(SIGNAL);
}

test.each(Object.entries(TRAPS))('%s', async (_, trap) => {
  const lab = await openLab();
  const before = lab.snapshot();
  const hostCalls = lab.hostCalls().length;
  lab.work(`${WORK}\n${trap}`, lab.payload, lab.checkout);
  const mark = lab.snapshot();
  expect(trespasses(before, mark)).toEqual([]);
  await goThrough(lab);
  expect(trespasses(before, lab.snapshot())).toEqual([]);
  // Whatever became of it, it can be made anew, is at its baseline then, and goes in the end.
  expect(await lab.writer.clone('HEAD', SIGNAL)).toMatchObject({ ok: true });
  expect(await lab.writer.hasWork(SIGNAL)).toEqual({ ok: true, work: false });
  expect(await lab.writer.remove()).toEqual({ ok: true });
  expect(readdirSync(lab.directory)).toEqual([]);
  expect(trespasses(before, lab.snapshot())).toEqual([]);
  expect(Object.keys(lab.landed()).every((name) => /^[a-z0-9][a-z0-9-]*$/i.test(name))).toBe(true);
  expect(lab.hasRun()).toBe(false);
  const places = lab.hostCalls().slice(hostCalls);
  expect(places.filter((call) => /writers\/shop-1\/clone[/ ]/.test(call))).toEqual([]);
});

test('the traps work: git on the host would step into them', async () => {
  const lab = await openLab();
  lab.work(`${WORK}\n${TRAPS['a file system monitor']}`, lab.payload, lab.checkout);
  const env = { PATH: '/usr/bin:/bin', GIT_DIR: lab.layout.git, GIT_WORK_TREE: lab.layout.work };
  execFileSync('sh', ['-c', 'printf ".\\n" >"$GIT_DIR/commondir"; git status'], {
    cwd: lab.layout.work,
    env,
    stdio: 'ignore',
  });
  expect(lab.hasRun()).toBe(true);
});

test.each([
  ['5,000 refs', ['too_many_branches'], 64],
  ['5,000 tags and exports', ['other_refs'], 1],
  ['names that look like options', ['refused_refs'], 2],
  ['names that differ in case', ['refused_refs'], 2],
  ['no history', [], 1],
  ['tool files', [], 1],
])('%s: what can come out does', async (name, incomplete, count) => {
  const lab = await openLab();
  lab.work(`${WORK}\n${TRAPS[name]}`, lab.payload, lab.checkout);
  const outcome = await lab.writer.collect(SIGNAL);
  expect(outcome).toMatchObject({ ok: true });
  expect(outcome.ok && Object.keys(outcome.collection.incomplete)).toEqual(incomplete);
  expect(Object.keys(lab.landed()).length).toBe(count);
});

test('a boundary that prints something else than git is not believed', async () => {
  for (const answer of ['', 'clean', 'x'.repeat(1000), '\0'.repeat(1000), '# branch.oid 1\0']) {
    const stdout = Buffer.from(answer);
    const lab = await openLab();
    const before = lab.snapshot();
    const { createWriterGit } = await import('../../../src/adapters/git/writer-git.ts');
    const writer = createWriterGit({
      git: lab.git,
      writer: 'shop-1',
      checkout: lab.checkout,
      directory: lab.directory,
      inside: async () => ({ kind: 'exited', code: 0, stdout }),
    });
    expect(await writer.status(SIGNAL)).toEqual({ ok: false });
    expect(await writer.hasWork(SIGNAL)).toEqual({ ok: false });
    expect(await writer.collect(SIGNAL)).toEqual({ ok: false, code: 'inside_failed' });
    expect((await writer.reset('HEAD', SIGNAL)).ok).toBe(false);
    expect(lab.snapshot()).toEqual(before);
  }
});

test('a file in the clone is never read through a link', async () => {
  const lab = await openLab();
  lab.work('rm -rf .git; ln -s "$2" .git', lab.payload, lab.checkout);
  expect(await lab.writer.status(SIGNAL)).toEqual({ ok: false });
  expect(await lab.writer.remove()).toEqual({ ok: true });
  expect(existsSync(join(lab.checkout, 'file'))).toBe(true);
  expect(readFileSync(join(lab.checkout, 'file'), 'utf8')).toBe('two\n');
});
