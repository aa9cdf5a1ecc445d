/** Placeholder entry of `pi-session-mcp-doctor`: says what it will be and fails. */
process.stderr.write('pi-session-mcp-doctor is not built yet. docs/configuration.md lists every rule it will check.\n');
process.exitCode = 1;
