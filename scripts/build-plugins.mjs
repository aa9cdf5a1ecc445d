/** Leaves out of the bundle what a server never runs but every start would pay for. */
import { readFileSync } from 'node:fs';

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
