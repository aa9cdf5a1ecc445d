/** Pi's SDK and its model runtimes: one for all profiles without extensions, else one per session. */
import { join } from 'node:path';
import { reachProvidersAsPi } from './http-dispatcher.ts';
import { loadSdk, type ModelRuntime, type Sdk } from './sdk.ts';

export interface OpenedRuntime {
  readonly sdk: Sdk;
  readonly agentDir: string;
  readonly models: ModelRuntime;
}

export interface RuntimeSource {
  /** The SDK alone, and Pi's agent directory. */
  load(): Promise<Pick<OpenedRuntime, 'sdk' | 'agentDir'>>;
  /** Opens it once; after a failure the next call tries again. */
  open(): Promise<OpenedRuntime>;
  /** Lets the next call open a fresh one, for instance after Pi's own model file was unreadable. */
  forget(opened: OpenedRuntime): void;
}

/** A fresh one, on Pi's own files and without the network. */
export async function openRuntime(sdk: Sdk, agentDir: string): Promise<OpenedRuntime> {
  const models = await sdk.ModelRuntime.create({
    authPath: join(agentDir, 'auth.json'),
    modelsPath: join(agentDir, 'models.json'),
    modelsStorePath: join(agentDir, 'models-store.json'),
    refreshOnCreate: false,
    allowModelNetwork: false,
  });
  return { sdk, agentDir, models };
}

export function createRuntimeSource(agentDir: string | undefined, onLoaded: () => void): RuntimeSource {
  let opening: Promise<OpenedRuntime> | undefined;
  let loading: ReturnType<RuntimeSource['load']> | undefined;
  const loadOnce = async () => {
    const sdk = await loadSdk();
    onLoaded();
    const directory = agentDir ?? sdk.getAgentDir();
    reachProvidersAsPi(sdk, directory);
    return { sdk, agentDir: directory };
  };
  const load = () => {
    loading ??= loadOnce();
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  return {
    load,
    open() {
      if (opening) return opening;
      const attempt = load().then((known) => openRuntime(known.sdk, known.agentDir));
      opening = attempt;
      attempt.catch(() => {
        if (opening === attempt) opening = undefined;
      });
      return attempt;
    },
    forget(opened) {
      const current = opening;
      void current?.then(
        (known) => {
          if (known === opened && opening === current) opening = undefined;
        },
        () => {},
      );
    },
  };
}
