/** The scripted model in a process of its own, so that it shares no event loop with what is measured. */
import { startScriptedModel } from '../demo/scripted-model.ts';

const hangs = process.argv[2] === 'hang';
const model = await startScriptedModel(hangs ? { choose: () => ({ hang: 'after-headers' }) } : { fixed: 'Done.' });
process.send?.(model.baseUrl);
// The parent is gone.
process.once('disconnect', () => process.exit(0));
