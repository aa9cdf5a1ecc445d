/** From the result of `tools/call` to what a model may see of it. */
import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import type { CallOutcome, GrantContent } from '../../ports/grants.ts';
import { jsonBytes } from './records.ts';
import { isSourceTooLarge } from './source-too-large.ts';

/** Serialized UTF-8 bytes of a whole result (docs/external-mcp.md). */
const MAX_RESULT_BYTES = 262_144;

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/**
 * Text and the images that models take pass. What would have to be fetched or
 * played is named by its kind alone: a link or a recording is of no use to a
 * model that cannot follow it.
 */
function contentOf(block: ContentBlock): GrantContent {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      if (IMAGES.has(block.mimeType) && BASE64.test(block.data)) {
        return { type: 'image', data: block.data, mimeType: block.mimeType };
      }
      return leftOut('an image of an unusual type');
    case 'resource':
      return 'text' in block.resource ? { type: 'text', text: block.resource.text } : leftOut('a binary resource');
    case 'resource_link':
      return leftOut('a link to a resource');
    case 'audio':
      return leftOut('audio');
    default:
      block satisfies never;
      return leftOut('something unknown');
  }
}

function leftOut(what: string): GrantContent {
  return { type: 'text', text: `[left out: ${what}]` };
}

/** Servers usually say the same once more as text; then once is enough. */
function isSaid(structured: unknown, content: readonly GrantContent[]): boolean {
  return content.some((part) => {
    if (part.type !== 'text') return false;
    try {
      return isDeepStrictEqual(JSON.parse(part.text), structured);
    } catch {
      return false;
    }
  });
}

/** @param keepsToSchema Absent when the tool has no output schema. */
export function outcomeOf(result: CallToolResult, keepsToSchema?: (value: unknown) => boolean): CallOutcome {
  if (result.isError) return { ok: false, reason: isSourceTooLarge(result) ? 'source_too_large' : 'failed' };
  if (jsonBytes(result) > MAX_RESULT_BYTES) return { ok: false, reason: 'result_too_large' };
  const { structuredContent } = result;
  if (keepsToSchema && !(structuredContent && keepsToSchema(structuredContent))) return { ok: false, reason: 'failed' };
  const content = result.content.map(contentOf);
  if (structuredContent === undefined || isSaid(structuredContent, content)) return { ok: true, content };
  return { ok: true, content: [...content, { type: 'text', text: JSON.stringify(structuredContent) }] };
}
