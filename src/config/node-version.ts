/** `engines` in package.json; a client starts whatever Node it was told to, and the Pi SDK fails late on an old one. */
const REQUIRED = { major: 22, minor: 19 };

/** `version` as in `process.versions.node`. */
export function isNodeSupported(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > REQUIRED.major || (major === REQUIRED.major && minor >= REQUIRED.minor);
}
