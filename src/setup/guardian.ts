/** Entry of the guardian process that setup starts beside itself; a file of its own, so that it starts fast. */
import { serveGuardian } from '../app/serve-guardian.ts';

serveGuardian();
