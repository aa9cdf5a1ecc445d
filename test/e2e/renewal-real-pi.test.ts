/** Renewal by the built warm-up with Pi's own OAuth code; only the providers' token endpoints are ours (docs/writers.md). */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BUILT_SERVER } from '../../demo/scene.ts';
import { createLauncherRun } from '../../src/app/launcher-run.ts';
import { LAUNCHER_DELAYS_MS } from '../../src/machines/writers/launcher-deadlines.ts';
import type { BoxEnd, LauncherPort } from '../../src/ports/writers/launcher.ts';
import { placesOf } from '../../src/writers/places.ts';
import { createRenewal, renew, type Selection, type WarmUp, writeSource } from '../../src/writers/renewal.ts';
import { createWarmUp } from '../../src/writers/warm-up-process.ts';
import { ManualClock } from '../kit/manual-clock.ts';
import { REPOSITORY } from './kit/stage.ts';
import { type Answering, startTokenEndpoint, type TokenAnswer, type TokenEndpoint } from './kit/token-endpoint.ts';
import { until } from './kit/until.ts';

const WARM_UP = join(dirname(BUILT_SERVER), 'warm-up.js');
const MINUTE = 60_000;
const HOUR_S = 3600;

interface Provider {
  readonly id: string;
  readonly host: string;
  readonly path: string;
  readonly type: string;
  readonly parse: (body: string) => unknown;
  /** An access token that the provider could have given. */
  readonly access: (name: string) => string;
  /** How long before the end Pi takes a token for expired. */
  readonly early: number;
}

/** Pi reads the account out of it. */
function jwt(name: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');
  return [{ alg: 'none' }, { jti: name, 'https://api.openai.com/auth': { chatgpt_account_id: 'account' } }, {}]
    .map(part)
    .join('.');
}

const PROVIDERS: readonly Provider[] = [
  {
    ...{ id: 'anthropic', host: 'platform.claude.com', path: '/v1/oauth/token', type: 'application/json' },
    ...{ parse: JSON.parse, access: (name: string) => `access-${name}`, early: 5 * MINUTE },
  },
  {
    ...{ id: 'openai-codex', host: 'auth.openai.com', path: '/oauth/token' },
    type: 'application/x-www-form-urlencoded',
    parse: (body) => Object.fromEntries(new URLSearchParams(body)),
    ...{ access: jwt, early: 0 },
  },
];
const [ANTHROPIC] = PROVIDERS as [Provider];
const HOSTS = PROVIDERS.map(({ host }) => host);

interface Login {
  readonly access: string;
  readonly refresh: string;
  readonly expires: number;
}
type Logins = Readonly<Record<string, Login>>;

/** An operator with a login, and writers of theirs. */
class Place {
  readonly root: string;
  readonly agent: string;
  readonly auth: string;
  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'renewal-'));
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    this.agent = join(this.root, 'agent of nobody');
    this.auth = join(this.agent, 'auth.json');
    mkdirSync(this.agent);
  }

  login({ id, access }: Provider, leftMs: number): void {
    const old = { type: 'oauth', access: access('old'), refresh: 'refresh-old', expires: Date.now() + leftMs };
    const other = { type: 'api_key', key: 'key-of-another' };
    writeFileSync(this.auth, JSON.stringify({ [id]: old, other }), { mode: 0o600 });
  }

  get logins(): Logins {
    return JSON.parse(readFileSync(this.auth, 'utf8')) as Logins;
  }

  writer(name: string, provider: string) {
    const places = placesOf(this.root, name);
    mkdirSync(places.agent, { recursive: true });
    const selections: Selection[] = [{ provider, model: 'any' }];
    writeSource(places, { agentDirectory: this.agent, selections });
    return places;
  }

  /** As the launcher of this writer does it. */
  renew(writer: string, provider: string, warmUp: WarmUp, now = Date.now()): Promise<boolean> {
    return renew(this.writer(writer, provider), warmUp, now);
  }

  copyOf(writer: string): Logins {
    return JSON.parse(readFileSync(join(placesOf(this.root, writer).agent, 'auth.json'), 'utf8')) as Logins;
  }

  endpoint(answering: Answering): Promise<TokenEndpoint> {
    return startTokenEndpoint(this.root, HOSTS, answering);
  }
}

const granted = ({ access }: Provider): TokenAnswer => ({
  status: 200,
  body: { access_token: access('new'), refresh_token: 'refresh-new', expires_in: 8 * HOUR_S },
});
const REFUSED: TokenAnswer = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'WORDS OF A PROVIDER' },
};

const network = ({ proxy, authority }: TokenEndpoint) => ({
  ...{ HOME: '/nonexistent', PATH: '/usr/bin:/bin' },
  ...{ HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: authority },
});
const never = () => new AbortController().signal;
const warmUpBy = (endpoint: TokenEndpoint, bound: () => AbortSignal = never) =>
  createWarmUp({ script: WARM_UP, env: network(endpoint), bound });

/** A start on which nothing but the renewal is real. */
class ScriptedBox implements LauncherPort {
  /** What the writer has of the provider when its box is started. */
  startedWith: Login | undefined;
  renewals = 0;
  readonly #end = Promise.withResolvers<BoxEnd>();
  readonly #renewal: () => Promise<boolean>;
  readonly #look: () => Login | undefined;

  constructor(renewal: () => Promise<boolean>, look: () => Login | undefined) {
    this.#renewal = renewal;
    this.#look = look;
  }

  claim = async () => 'held' as const;
  check = async () => ({ ok: true }) as const;
  clear = this.check;
  open = this.check;
  reap = this.check;
  plan = this.check;
  renew: LauncherPort['renew'] = async () => {
    this.renewals += 1;
    return { ok: await this.#renewal() };
  };
  start: LauncherPort['start'] = async () => {
    this.startedWith = this.#look();
    return { ok: true };
  };
  watchInput = () => () => {};
  end = () => this.#end.resolve({ kind: 'ended', code: 0 });
  remove = () => {};
  ended = () => this.#end.promise;
}

describe.each(PROVIDERS)('a login with $id', (provider) => {
  const { id, host, path, type, parse, access, early } = provider;

  test('is renewed once it has expired; the writer gets the token and not what renews it', async () => {
    const place = new Place();
    const endpoint = await place.endpoint(() => granted(provider));
    place.login(provider, -MINUTE);
    const from = Date.now();
    expect(await place.renew('shop-1', id, warmUpBy(endpoint))).toBe(true);
    expect(endpoint.requests.map(({ to }) => to)).toEqual([`${host} POST ${path}`]);
    expect(endpoint.requests[0]?.type).toContain(type);
    const asked = { grant_type: 'refresh_token', refresh_token: 'refresh-old', client_id: expect.any(String) };
    expect(parse(endpoint.requests[0]?.body ?? '')).toEqual(asked);
    const { [id]: login, ...others } = place.logins;
    expect(login).toMatchObject({ access: access('new'), refresh: 'refresh-new' });
    expect(login?.expires).toBeGreaterThanOrEqual(from + 8 * HOUR_S * 1000 - early);
    expect(others).toEqual({ other: { type: 'api_key', key: 'key-of-another' } });
    expect(statSync(place.auth).mode & 0o777).toBe(0o600);
    expect(place.copyOf('shop-1')).toEqual({ [id]: { ...login, refresh: '' } });
  });

  test('that the provider does not renew stays as it was, and so does the copy', async () => {
    const place = new Place();
    const endpoint = await place.endpoint(() => REFUSED);
    place.login(provider, 6 * MINUTE);
    const before = readFileSync(place.auth);
    expect(await place.renew('shop-1', id, warmUpBy(endpoint))).toBe(true);
    expect(endpoint.requests).toHaveLength(1);
    expect(readFileSync(place.auth)).toEqual(before);
    expect(place.copyOf('shop-1')).toEqual({ [id]: { ...place.logins[id], refresh: '' } });
  });

  test('has its refresh token used once by two launchers at the same time', async () => {
    const place = new Place();
    const used = new Set<string>();
    // As a provider would that sees a token for the second time.
    const endpoint = await place.endpoint(({ body }) => {
      const { refresh_token: token } = parse(body) as { refresh_token: string };
      const isNew = !used.has(token);
      used.add(token);
      return isNew ? granted(provider) : REFUSED;
    });
    place.login(provider, -MINUTE);
    const both = ['shop-1', 'shop-2'];
    const warmUp = warmUpBy(endpoint);
    expect(await Promise.all(both.map((writer) => place.renew(writer, id, warmUp)))).toEqual([true, true]);
    expect(endpoint.requests).toHaveLength(1);
    for (const writer of both) expect(place.copyOf(writer)[id]).toMatchObject({ access: access('new'), refresh: '' });
  });

  test.each([
    ['granted', granted(provider)],
    ['refused', REFUSED],
  ])('nobody’s words or tokens are printed when it is %s', async (_what, answer) => {
    const place = new Place();
    const endpoint = await place.endpoint(() => answer);
    place.login(provider, -MINUTE);
    const child = spawn(process.execPath, [WARM_UP, place.agent, id], {
      env: network(endpoint),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk));
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    expect(endpoint.requests).toHaveLength(1);
    expect(said).toBe('');
  });
});

describe('when', () => {
  test.each([
    ['six minutes are left', 6 * MINUTE, 1],
    ['eight minutes are left', 8 * MINUTE, 0],
  ])('%s', async (_what, left, requests) => {
    const place = new Place();
    const endpoint = await place.endpoint(() => granted(ANTHROPIC));
    place.login(ANTHROPIC, left);
    await place.renew('shop-1', 'anthropic', warmUpBy(endpoint));
    expect(endpoint.requests).toHaveLength(requests);
    const name = requests === 1 ? 'new' : 'old';
    expect(place.copyOf('shop-1')['anthropic']?.access).toBe(ANTHROPIC.access(name));
  });

  // What docs/adr/0017 counts on: a session in the box does by itself what it cannot, from here on.
  test.each([
    ['with more than five minutes left Pi takes a token as it is', 5.5 * MINUTE, 0],
    ['with less it renews by itself', 4.5 * MINUTE, 1],
  ])('%s', async (_what, left, requests) => {
    const place = new Place();
    const endpoint = await place.endpoint(() => REFUSED);
    place.login(ANTHROPIC, left);
    const program = `
      const [, directory, adapters] = process.argv;
      const load = (name) => import(adapters + name);
      const sdk = await (await load('sdk.ts')).loadSdk();
      (await load('http-dispatcher.ts')).reachProvidersAsPi(sdk, directory);
      const { models } = await (await load('model-runtime.ts')).openRuntime(sdk, directory);
      const found = await models.getAuth('anthropic').catch(() => undefined);
      process.exit(found ? 0 : 3);`;
    const adapters = join(REPOSITORY, 'src', 'adapters', 'pi', '/');
    const args = ['--input-type=module', '-e', program, place.agent, adapters];
    const child = spawn(process.execPath, args, { env: network(endpoint), stdio: 'ignore' });
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(requests === 0 ? 0 : 3);
    expect(endpoint.requests).toHaveLength(requests);
  });

  test('for two providers at once, by one process', async () => {
    const place = new Place();
    const endpoint = await place.endpoint(({ to }) =>
      granted(PROVIDERS.find(({ host }) => to.startsWith(host)) ?? ANTHROPIC),
    );
    const old = { type: 'oauth', refresh: 'refresh-old', expires: 1 };
    const logins = PROVIDERS.map(({ id, access }) => [id, { ...old, access: access('old') }]);
    writeFileSync(place.auth, JSON.stringify(Object.fromEntries(logins)), { mode: 0o600 });
    await warmUpBy(endpoint)(
      place.agent,
      PROVIDERS.map(({ id }) => ({ provider: id, model: 'any' })),
    );
    for (const { id, access } of PROVIDERS) {
      expect(place.logins[id]).toMatchObject({ access: access('new'), refresh: 'refresh-new' });
    }
  });

  test('never for an API key: nobody is even connected to', async () => {
    const place = new Place();
    const endpoint = await place.endpoint(() => granted(ANTHROPIC));
    const keys = { anthropic: { type: 'api_key', key: 'a-key' } };
    writeFileSync(place.auth, JSON.stringify(keys), { mode: 0o600 });
    const warmUp = warmUpBy(endpoint);
    expect(await place.renew('shop-1', 'anthropic', warmUp)).toBe(true);
    await warmUp(place.agent, [{ provider: 'anthropic', model: 'any' }]);
    expect(endpoint.connections).toEqual([]);
    expect(place.logins).toEqual(keys);
    expect(place.copyOf('shop-1')).toEqual(keys);
  });
});

describe('the way to the provider', () => {
  const settings = (place: Place, value: object) =>
    writeFileSync(join(place.agent, 'settings.json'), JSON.stringify(value));

  test.each<[string, (endpoint: TokenEndpoint, place: Place) => Record<string, string>]>([
    ['a proxy in small letters', ({ proxy, authority }) => ({ https_proxy: proxy, NODE_EXTRA_CA_CERTS: authority })],
    [
      'the authorities of the system',
      ({ proxy, authority }) => ({ HTTPS_PROXY: proxy, NODE_USE_SYSTEM_CA: '1', SSL_CERT_FILE: authority }),
    ],
    [
      'a proxy in Pi’s settings',
      ({ proxy, authority }, place) => {
        settings(place, { httpProxy: proxy });
        return { NODE_EXTRA_CA_CERTS: authority };
      },
    ],
    [
      'a proxy in the environment rather than in Pi’s settings',
      ({ proxy, authority }, place) => {
        settings(place, { httpProxy: 'http://127.0.0.1:9' });
        return { HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: authority };
      },
    ],
  ])('%s', async (_what, envOf) => {
    const place = new Place();
    const endpoint = await place.endpoint(() => granted(ANTHROPIC));
    place.login(ANTHROPIC, -MINUTE);
    const warmUp = createWarmUp({ script: WARM_UP, env: envOf(endpoint, place), bound: never });
    await place.renew('shop-1', 'anthropic', warmUp);
    expect(endpoint.connections).toEqual([`${ANTHROPIC.host}:443`]);
    expect(place.logins['anthropic']?.refresh).toBe('refresh-new');
  });

  test('without its authority a provider is nobody to trust', async () => {
    const place = new Place();
    const endpoint = await place.endpoint(() => granted(ANTHROPIC));
    place.login(ANTHROPIC, -MINUTE);
    const before = readFileSync(place.auth);
    const warmUp = createWarmUp({ script: WARM_UP, env: { HTTPS_PROXY: endpoint.proxy }, bound: never });
    await place.renew('shop-1', 'anthropic', warmUp);
    expect(endpoint.connections).not.toEqual([]);
    expect(endpoint.requests).toEqual([]);
    expect(readFileSync(place.auth)).toEqual(before);
  });
});

describe('a provider that does not answer', () => {
  test('is given up at the bound; the next renewal gets there', async () => {
    const place = new Place();
    const bound = new AbortController();
    const endpoint = await place.endpoint(({ body }) => {
      if (body.includes('refresh-new') || bound.signal.aborted) return granted(ANTHROPIC);
      bound.abort();
      return new Promise(() => {});
    });
    place.login(ANTHROPIC, 6 * MINUTE);
    const before = readFileSync(place.auth);
    expect(
      await place.renew(
        'shop-1',
        'anthropic',
        warmUpBy(endpoint, () => bound.signal),
      ),
    ).toBe(true);
    expect(readFileSync(place.auth)).toEqual(before);
    expect(place.copyOf('shop-1')['anthropic']).toMatchObject({ access: 'access-old', refresh: '' });
    // Pi breaks the lock of somebody who is gone after 30 s; as if they had passed.
    const past = new Date(Date.now() - MINUTE);
    utimesSync(`${place.auth}.lock`, past, past);
    await place.renew('shop-1', 'anthropic', warmUpBy(endpoint));
    expect(place.copyOf('shop-1')['anthropic']).toMatchObject({ access: 'access-new', refresh: '' });
  });

  test('does not hold the start, which uses what the operator has; its late answer is copied beside the box', async () => {
    const place = new Place();
    const answer = Promise.withResolvers<TokenAnswer>();
    const endpoint = await place.endpoint(() => answer.promise);
    place.login({ ...ANTHROPIC, access: () => 'access-older' }, 60 * MINUTE);
    await place.renew('shop-1', 'anthropic', warmUpBy(endpoint));
    expect(place.copyOf('shop-1')['anthropic']?.access).toBe('access-older');
    place.login(ANTHROPIC, 6 * MINUTE);

    const warmUp = vi.fn(warmUpBy(endpoint));
    const renewal = createRenewal(place.writer('shop-1', 'anthropic'), warmUp, {});
    const box = new ScriptedBox(renewal, () => place.copyOf('shop-1')['anthropic']);
    const clock = new ManualClock();
    const ended = createLauncherRun(box, { clock }).start();
    await until('the provider is asked', () => endpoint.requests.length === 1);
    expect(box.startedWith).toBeUndefined();
    clock.fire(LAUNCHER_DELAYS_MS.renewalPatience);
    await until('the box runs', () => clock.pendingByDelay().has(LAUNCHER_DELAYS_MS.renewalInterval));
    expect(box.startedWith).toMatchObject({ access: 'access-old', refresh: '' });

    // The minute is over, and it is the same one that is waited for.
    clock.fire(LAUNCHER_DELAYS_MS.renewalInterval);
    expect(box.renewals).toBe(2);
    answer.resolve(granted(ANTHROPIC));
    await until('the next minute begins', () => clock.size > 0);
    expect(place.copyOf('shop-1')['anthropic']).toMatchObject({ access: 'access-new', refresh: '' });
    expect(warmUp).toHaveBeenCalledOnce();
    expect(endpoint.requests).toHaveLength(1);
    box.end();
    expect(await ended).toEqual({ status: 0, code: null });
  });

  test('and answers after the client has ended the launcher’s process group: nothing is lost', async () => {
    const place = new Place();
    const answer = Promise.withResolvers<TokenAnswer>();
    const endpoint = await place.endpoint(() => answer.promise);
    place.login(ANTHROPIC, -MINUTE);
    const module = join(REPOSITORY, 'src', 'writers', 'warm-up-process.ts');
    const program = `
      const { createWarmUp } = await import(process.argv[1]);
      const [, , script, directory] = process.argv;
      const warmUp = createWarmUp({ script, env: process.env, bound: () => new AbortController().signal });
      await warmUp(directory, [{ provider: 'anthropic', model: 'any' }]);`;
    const launcher = spawn(process.execPath, ['--input-type=module', '-e', program, module, WARM_UP, place.agent], {
      env: network(endpoint),
      stdio: 'ignore',
      detached: true,
    });
    const gone = new Promise((resolve) => launcher.once('exit', resolve));
    await until('the renewal is under way', () => endpoint.requests.length === 1);
    process.kill(-(launcher.pid ?? 0), 'SIGKILL');
    await gone;
    answer.resolve(granted(ANTHROPIC));
    await until('the login is renewed', () => place.logins['anthropic']?.refresh === 'refresh-new');
    await until(
      'nobody is left',
      () => !execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).includes(place.agent),
    );
  });
});
