import { describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../../../src/adapters/pi/sdk.ts';
import { turnResultOf } from '../../../src/adapters/pi/turn-result.ts';

function message(stopReason: string | undefined, ...texts: string[]): AssistantMessage {
  const content = [{ type: 'thinking', thinking: 'hm' }, ...texts.map((text) => ({ type: 'text', text }))];
  return { role: 'assistant', content, stopReason } as unknown as AssistantMessage;
}

function textOf(...texts: string[]) {
  const result = turnResultOf(message('stop', ...texts));
  if (result.state !== 'completed') throw new Error('not completed');
  return result;
}

describe('turn result', () => {
  it.each([
    ['stop', 'completed'],
    ['length', 'completed'],
    ['toolUse', 'completed'],
    ['aborted', 'aborted'],
    ['error', 'failed'],
    ['pending', 'failed'],
    ['deferred', 'failed'],
    ['something-new', 'failed'],
    [undefined, 'failed'],
  ])('%s → %s', (reason, state) => {
    expect(turnResultOf(message(reason, 'text')).state).toBe(state);
  });

  it('fails without a message', () => {
    expect(turnResultOf(undefined)).toEqual({ state: 'failed' });
  });

  it('joins the text parts and trims', () => {
    expect(textOf('  one ', 'two\n')).toEqual({ state: 'completed', assistantText: 'one two', truncated: false });
    expect(textOf().assistantText).toBe('');
  });

  it.each([
    ['a', 65_536],
    ['ä', 32_768],
    ['€', 21_845],
    ['😀', 16_384],
  ])('cuts on a code point: %s', (character, fitting) => {
    const whole = textOf(character.repeat(fitting));
    expect(whole).toEqual({ state: 'completed', assistantText: character.repeat(fitting), truncated: false });
    const cut = textOf(character.repeat(fitting + 1));
    expect(cut).toEqual({ state: 'completed', assistantText: character.repeat(fitting), truncated: true });
    expect(Buffer.byteLength(cut.assistantText)).toBeLessThanOrEqual(65_536);
  });

  it('replaces halves of a pair, which strict JSON parsers refuse', () => {
    expect(textOf('a\ud83db\ude00c').assistantText).toBe('a\ufffdb\ufffdc');
    expect(textOf('😀').assistantText).toBe('😀');
  });
});
