/** Signals to setup. */
import type { RunSetupOptions } from './run-setup.ts';

/** A signal ends the run in order; a second one changes nothing, for what is awaited must not be left behind. */
export const onInterrupt: NonNullable<RunSetupOptions['onInterrupt']> = (interrupt) => {
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const listener = () => interrupt(signal);
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const remove of listeners) remove();
  };
};
