/** One Pi model runtime, with its SDK, for all profiles without extensions. */
import { join } from 'node:path';
import { loadSdk, type ModelRuntime, type Sdk } from './sdk.ts';

export interface OpenedRuntime {
  readonly sdk: Sdk;
  readonly agentDir: string;
  readonly models: ModelRuntime;
}

export interface RuntimeSource {
  /** Opens it once; after a failure the next call tries again. */
  open(): Promise<OpenedRuntime>;
  /** Lets the next call open a fresh one, for instance after Pi's own model file was unreadable. */
  forget(opened: OpenedRuntime): void;
}

async function openRuntime(agentDir: string | undefined, onLoaded: () => void): Promise<OpenedRuntime> {
  const sdk = await loadSdk();
  onLoaded();
  const directory = agentDir ?? sdk.getAgentDir();
  const models = await sdk.ModelRuntime.create({
    authPath: join(directory, 'auth.json'),
    modelsPath: join(directory, 'models.json'),
    modelsStorePath: join(directory, 'models-store.json'),
    refreshOnCreate: false,
    allowModelNetwork: false,
  });
  return { sdk, agentDir: directory, models };
}

export function createRuntimeSource(agentDir: string | undefined, onLoaded: () => void): RuntimeSource {
  let opening: Promise<OpenedRuntime> | undefined;
  return {
    open() {
      if (opening) return opening;
      const attempt = openRuntime(agentDir, onLoaded);
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
