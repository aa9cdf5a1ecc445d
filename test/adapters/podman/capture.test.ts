/** One command in a real box: what it may see, what comes back of it, and that nothing of it stays. */
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { NO_PODMAN, useLab } from './lab.ts';

const lab = useLab();

describe.skipIf(NO_PODMAN !== undefined)('a command in a box', () => {
  afterEach(() => {
    expect(lab().containers()).toEqual([]);
    expect(lab().boxes()).toEqual([]);
  });

  test('its output, its status and its input are exactly its own', async () => {
    const writer = await lab().writer('plain');
    const bytes = `${String.fromCharCode(0, 255, 6, 10)}end`;
    const echo = await lab().run(writer, ['sh', '-c', 'cat; printf "on \\006 stderr" >&2; exit 7'], {
      input: Buffer.from(bytes),
    });
    const encoded = Buffer.from(Buffer.from(bytes).toString('latin1')).toString('latin1');
    expect(echo).toEqual({ kind: 'ended', code: 7, stdout: encoded, stderr: 'on \u0006 stderr' });
  });

  test('arguments arrive as they are, and no shell reads them', async () => {
    const writer = await lab().writer('plain');
    const odd = ['--help', '-e', '$(id)', '`id`', 'a b', '', '"', "'", '\n', ';', '*', '\\'];
    const argv = ['sh', '-c', 'for a; do printf "%s|" "$a"; done', 'x', ...odd];
    expect(await lab().run(writer, argv)).toMatchObject({ code: 0, stdout: `${odd.join('|')}|` });
  });

  test('what cannot be run is told apart from a box that cannot start', async () => {
    const writer = await lab().writer('plain');
    expect(await lab().run(writer, ['no-such-program'])).toMatchObject({ kind: 'ended', code: 127 });
    const bad = {
      ...writer,
      root: { kind: 'tree', path: join(writer.directory, 'nowhere'), image: 'x', environment: {} },
    } as const;
    expect(await lab().run(bad, ['true'])).toEqual({ kind: 'not_started' });
    const without = { ...writer, network: 'pasta' } as const;
    const expected = lab().host?.networks.includes('pasta') ? { kind: 'ended' } : { kind: 'not_started' };
    expect(await lab().run(without, ['true'])).toMatchObject(expected);
  });

  test('too long, too much, no longer wanted: all of it ends, children included', async () => {
    const writer = await lab().writer('plain');
    const stubborn = 'trap "" TERM HUP INT; setsid sleep 1000 & while :; do sleep 1; done';
    expect(await lab().run(writer, ['sh', '-c', stubborn], { timeoutMs: 1500 })).toEqual({ kind: 'timed_out' });
    expect(await lab().run(writer, ['yes'], { maxOutputBytes: 100_000 })).toEqual({ kind: 'output_too_large' });
    const command = { argv: ['sh', '-c', stubborn], timeoutMs: 60_000, maxOutputBytes: 1000 };
    const aborted = await lab().act({ do: 'capture', writer, command, abortAfterMs: 1500 });
    expect(aborted).toEqual({ kind: 'interrupted' });
  });

  test('who, with what rights and in what world it runs', async () => {
    const writer = await lab().writer('plain');
    const facts = await lab().sh(
      writer,
      `id -u; id -g; grep -hE '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; ls /sys/class/net; env | sort | sed 's/=.*//'`,
    );
    if (facts.kind !== 'ended') throw new Error(facts.kind);
    const lines = facts.stdout.split('\n').map((line) => line.replace(/\s+/g, ' '));
    const none = '0000000000000000';
    const { uid, gid } = lab().user;
    expect(lines.slice(0, 9)).toEqual([
      ...[String(uid), String(gid), `CapInh: ${none}`, `CapPrm: ${none}`, `CapEff: ${none}`, `CapBnd: ${none}`],
      ...[`CapAmb: ${none}`, 'NoNewPrivs: 1', 'Seccomp: 2'],
    ]);
    expect(lines[9]).toBe('lo');
    const known = ['HOME', 'HOSTNAME', 'LANG', 'OLDPWD', 'PATH', 'PWD', 'SHLVL', 'TERM', '_', 'container'];
    expect(lines.slice(10).filter((name) => name !== '' && !known.includes(name))).toEqual([]);
  });

  test('nothing of the operator’s environment, Podman settings or mounts comes in', async () => {
    const writer = await lab().writer('plain');
    const home = lab().path('operator');
    const canary = lab().path('canary');
    lab().write(join(canary, 'secret'), 'SETTINGSCANARY');
    lab().path('operator', '.config', 'containers');
    const settings = join(home, '.config/containers');
    lab().write(join(settings, 'containers.conf'), `[containers]\nvolumes = ["${canary}:/one"]\nenv = ["LEAK=1"]\n`);
    lab().write(join(settings, 'mounts.conf'), `${canary}:/two\n`);
    const world = {
      ...{ HOME: home, http_proxy: 'http://user:PROXYCANARY@127.0.0.1:1', SSH_AUTH_SOCK: '/tmp/agent' },
      ...{
        CONTAINERS_CONF: join(settings, 'containers.conf'),
        CONTAINERS_CONF_OVERRIDE: join(settings, 'containers.conf'),
      },
      ...{ GIT_ASKPASS: '/bin/true', GH_TOKEN: 'TOKENCANARY' },
    };
    const seen = await lab().run(writer, ['sh', '-c', 'env; cat /one/secret /two/secret; ls /'], {}, world);
    expect(seen).toMatchObject({
      kind: 'ended',
      stdout: expect.not.stringMatching(/CANARY|LEAK|SSH_|GIT_|^one$|^two$/m),
    });
  });

  test.each([
    'comma,ro=false',
    'quote"x',
    "apostrophe'",
    'colon:ro',
    'equals=a',
    'two  words',
    'ü💥',
    '$(id)',
    'dst=,src=',
  ])('a state directory called %s', async (name) => {
    const state = lab().path('odd', name);
    const directory = join(state, 'writer');
    expect(await lab().act({ do: 'create', directory }, {}, state)).toMatchObject({ kind: 'ready' });
    const writer = { name: 'writer', directory, root: { kind: 'host' }, network: 'none' } as const;
    const command = {
      argv: ['sh', '-c', 'echo ok > f; echo no > .git/hooks/x; ls .git'],
      timeoutMs: 30_000,
      maxOutputBytes: 1000,
    };
    const outcome = await lab().act({ do: 'capture', writer, command }, {}, state);
    expect(outcome).toMatchObject({ kind: 'ended', stdout: 'commondir\nconfig\nhooks\n' });
  });
});
