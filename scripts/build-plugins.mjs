/** Leaves out of the bundle what a server never runs but every start would pay for. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** zod's index names some fifty languages; error messages of ours are English. */
export const lightZodLocales = {
  name: 'light-zod-locales',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      loader: 'js',
    }));
  },
};

/** Of our own manifest the code wants two fields; the rest would make the bundle change with every script. */
export const slimManifest = (manifestPath) => ({
  name: 'slim-manifest',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]package\.json$/ }, ({ path }) => {
      if (path !== manifestPath) return undefined;
      const { name, version } = JSON.parse(readFileSync(path, 'utf8'));
      return { contents: JSON.stringify({ name, version }), loader: 'json' };
    });
  },
});

/**
 * The SDK's server makes a JSON Schema validator when it is constructed, for
 * elicitation only, which this server never asks for. The SDK's *client* (external
 * MCP grants) does validate results with it and keeps the real one.
 */
export const serverWithoutAjv = {
  name: 'server-without-ajv',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\/ajv-provider\.js$/ }, ({ path, importer }) =>
      /[\\/]@modelcontextprotocol[\\/]sdk[\\/].*[\\/]server[\\/]/.test(importer)
        ? { path, namespace: 'no-validator' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'no-validator' }, () => ({
      contents: `export class AjvJsonSchemaValidator {
        getValidator() { throw new Error('this build validates no JSON Schema on the server side'); }
      }`,
      loader: 'js',
    }));
  },
};

/** Fewer than these found means that the SDK's file has changed its shape. */
const EXPECTED_SCHEMAS = 140;
const TOP_LEVEL_SCHEMA =
  /^(export )?const (\w+) = ((?:z\.|[A-Z]\w*(?:\.|Schema\b))[\s\S]*?);\n(?=[^\s})\]]|$(?![\s\S]))/gm;

/**
 * The SDK's types module builds some 150 zod schemas when it is loaded, most of
 * them for messages that a tools-only server never meets. Marked as pure, those
 * that nothing refers to fall away. Nothing else about them changes.
 */
export const unusedSdkSchemas = {
  name: 'unused-sdk-schemas',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@modelcontextprotocol[\\/]sdk[\\/]dist[\\/]esm[\\/]types\.js$/ }, ({ path }) => {
      let found = 0;
      const contents = readFileSync(path, 'utf8').replace(TOP_LEVEL_SCHEMA, (_, exported = '', name, value) => {
        found += 1;
        return `${exported}const ${name} = /* @__PURE__ */ (() => ${value})();\n`;
      });
      if (found < EXPECTED_SCHEMAS) return { errors: [{ text: `only ${found} schemas found in the SDK's types` }] };
      return { contents, loader: 'js' };
    });
  },
};

/** Keeps the plugin below from resolving its own question. */
const ASKED = Symbol('asked');
const CLIENT_SIDE =
  /[\\/](sdk[\\/]dist[\\/]esm[\\/](client|experimental[\\/]tasks[\\/]client\.js)|src[\\/]adapters[\\/]grants)/;

/**
 * The SDK's client (external MCP grants) needs many more of those schemas, and is
 * loaded late. Sharing the module with the server would make every start build
 * them, so the client's side gets a copy of its own.
 */
export const separateClientTypes = {
  name: 'separate-client-types',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /\/types\.js$/ }, async ({ path, importer, resolveDir, kind, pluginData }) => {
      if (pluginData === ASKED || !CLIENT_SIDE.test(importer)) return undefined;
      const found = await resolve(path, { importer, resolveDir, kind, pluginData: ASKED });
      return found.errors.length > 0 ? found : { path: found.path, suffix: '?client', sideEffects: found.sideEffects };
    });
  },
};

/** A late import of what is an entry of another group leads to that entry's file. */
export const importedEntries = (root, entryPoints, group) => ({
  name: 'imported-entries',
  setup({ onResolve }) {
    const others = Object.entries(entryPoints).filter(([name]) => !group.includes(name));
    const names = new Map(others.map(([name, path]) => [join(root, path), name]));
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir, kind }) => {
      const name = kind === 'dynamic-import' ? names.get(resolve(resolveDir, path)) : undefined;
      return name && { path: `./${name}.js`, external: true };
    });
  },
});
