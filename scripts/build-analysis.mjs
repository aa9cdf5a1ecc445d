/** Reads esbuild's metafile: what is loaded with an output, and what the outputs are made of. */

/** Outputs and external modules that an output loads before its first line runs. */
export function staticClosure(metafile, entry) {
  const outputs = new Set([entry]);
  const external = new Set();
  for (const output of outputs) {
    for (const { path, kind, external: isExternal } of metafile.outputs[output]?.imports ?? []) {
      if (kind !== 'import-statement' && kind !== 'require-call') continue;
      (isExternal ? external : outputs).add(path);
    }
  }
  return { outputs: [...outputs], external: [...external].sort() };
}

/** A table for humans: per output its size, its largest packages, and what it needs from outside. */
export function reportOutputs(metafile) {
  const lines = [];
  for (const [path, output] of Object.entries(metafile.outputs)) {
    lines.push(`${path}  ${kilobytes(output.bytes)}`);
    const packages = Object.entries(bytesByPackage(output)).sort(([, a], [, b]) => b - a);
    for (const [name, bytes] of packages.slice(0, 12)) lines.push(`    ${kilobytes(bytes).padStart(10)}  ${name}`);
    if (!output.entryPoint) continue;
    const { outputs, external } = staticClosure(metafile, path);
    const total = outputs.reduce((sum, name) => sum + (metafile.outputs[name]?.bytes ?? 0), 0);
    lines.push(
      `    at start: ${outputs.length} file(s), ${kilobytes(total)}; from outside: ${external.join(' ') || '-'}`,
    );
  }
  return lines.join('\n');
}

/** `node_modules/a/node_modules/@b/c/x.js` belongs to `@b/c`, `src/…` to `src`. */
function packageOf(input) {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
  return name ?? 'src';
}

function bytesByPackage({ inputs }) {
  const sums = {};
  for (const [input, { bytesInOutput }] of Object.entries(inputs)) {
    const name = packageOf(input);
    sums[name] = (sums[name] ?? 0) + bytesInOutput;
  }
  return sums;
}

const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;
