import { describe, expect, it } from 'vitest';
import { MESSAGES } from '../../../src/adapters/mcp/messages.ts';

describe('the messages', () => {
  it('are the fixed ones where the contract fixes them', () => {
    expect(MESSAGES).toMatchObject({
      prompt_timeout: 'Pi prompt preflight timed out',
      abort_timeout: 'Pi abort timed out',
      skill_load_failed: 'Configured Pi skill could not be loaded',
      extension_tool_missing: 'Granted Pi extension tool is not available',
    });
  });

  it('are short, different, and neither paths nor placeholders', () => {
    const texts = Object.values(MESSAGES);
    expect(new Set(texts).size).toBe(texts.length);
    for (const text of texts) expect(text).toMatch(/^[A-Z][A-Za-z0-9 _,.:;'-]{10,180}$/);
  });
});
