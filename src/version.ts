/** The one source of the server's public name and version. */
import manifest from '../package.json' with { type: 'json' };

export const SERVER_NAME: string = manifest.name;
export const SERVER_VERSION: string = manifest.version;
