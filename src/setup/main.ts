/** Placeholder entry of `pi-session-mcp-setup`: says what it will be and fails. */
process.stderr.write('pi-session-mcp-setup is not built yet. Register the server by hand; the README shows how.\n');
process.exitCode = 1;
