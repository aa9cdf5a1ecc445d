/** Prints how long this process takes from its first line to a raw Pi session, in milliseconds. */
const began = performance.now();
const { createSession, openPi } = await import('./raw-pi.mjs');
await createSession(await openPi(process.env.PI_CODING_AGENT_DIR), process.argv[2]);
process.stdout.write(String(performance.now() - began), () => process.exit(0));
