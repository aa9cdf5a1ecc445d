import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSourceTooLarge } from '../../../src/adapters/grants/source-too-large.ts';

const GOOD = { code: 'SOURCE_TOO_LARGE', message: 'The table has 9000000 rows' };
const text = (said: unknown) => ({ type: 'text', text: typeof said === 'string' ? said : JSON.stringify(said) });
const says = (message: string) => isSourceTooLarge({ content: [text({ ...GOOD, message })] });

describe('SOURCE_TOO_LARGE is recognized', () => {
  it.each([
    ['as text', { content: [text(GOOD)] }],
    [
      'as text with spaces and another order of keys',
      { content: [text(` {"message" : "Big", "code":"SOURCE_TOO_LARGE"}\n`)] },
    ],
    ['as structured content', { content: [], structuredContent: GOOD }],
    ['as both', { content: [text(GOOD)], structuredContent: GOOD }],
  ])('%s', (_, result) => expect(isSourceTooLarge(result)).toBe(true));

  it.each([
    ['nothing', { content: [] }],
    ['another code', { content: [text({ ...GOOD, code: 'SOURCE_LARGE' })] }],
    ['one field more', { content: [text({ ...GOOD, hint: 'x' })] }],
    ['one field less', { content: [text({ code: GOOD.code })] }],
    ['a message that is none', { content: [text({ ...GOOD, message: 7 })] }],
    ['an array', { content: [text([GOOD])] }],
    ['words around it', { content: [text(`Error: ${JSON.stringify(GOOD)}`)] }],
    ['a repeated key', { content: [text('{"code":"X","code":"SOURCE_TOO_LARGE","message":"Big"}')] }],
    ['an inherited name', { content: [text('{"__proto__":{},"code":"SOURCE_TOO_LARGE","message":"Big"}')] }],
    ['a comment', { content: [text('{"code":"SOURCE_TOO_LARGE",/**/"message":"Big"}')] }],
    ['two blocks', { content: [text(GOOD), text(GOOD)] }],
    ['an image', { content: [{ type: 'image', data: '' }] }],
    ['more than 1 KiB', { content: [text(`${JSON.stringify(GOOD)}${' '.repeat(1024)}`)] }],
    ['forms that differ', { content: [text(GOOD)], structuredContent: { ...GOOD, message: 'Big' } }],
    ['a form that is something else', { content: [text(GOOD)], structuredContent: 7 }],
    ['a form that is null', { content: [text(GOOD)], structuredContent: null }],
    ['text that is something else', { content: [text('too large')], structuredContent: GOOD }],
  ])('but not with %s', (_, result) => expect(isSourceTooLarge(result)).toBe(false));

  it.each(['x', 'x'.repeat(200), '😀'.repeat(200), 'Too big. Try less', 'It has 3.', 'Über 10 %'])(
    'with a message like %j',
    (message) => {
      expect(says(message)).toBe(true);
    },
  );

  it.each([
    ['nothing', ''],
    ['201 characters', 'x'.repeat(201)],
    ['a line break', 'a\nb'],
    ['an escape', 'a\u001b[31m'],
    ['an invisible character', 'a\u200bb'],
    ['a line separator', 'a\u2028b'],
    ['a path', 'see /etc/passwd'],
    ['a relative path', 'src/main.ts'],
    ['a Windows path', 'C:\\Users'],
    ['a URL', 'https://x'],
    ['a domain', 'ask example.com'],
    ['an international domain', 'ask bücher.de'],
    ['an address', '10.0.0.1'],
    ['a file', 'dump.sql'],
  ])('but not with a message of %s', (_, message) => expect(says(message)).toBe(false));

  it('only ever for a closed object with a short message, whatever comes', () => {
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.record({ code: fc.constantFrom('SOURCE_TOO_LARGE', 'X'), message: fc.string() }),
    );
    fc.assert(
      fc.property(
        fc.array(anything, { maxLength: 2 }),
        fc.option(anything, { nil: undefined }),
        (texts, structured) => {
          const result = {
            content: texts.map(text),
            ...(structured !== undefined && { structuredContent: structured }),
          };
          if (!isSourceTooLarge(result)) return;
          for (const form of [
            ...texts.map((each) => (typeof each === 'string' ? JSON.parse(each) : each)),
            structured ?? GOOD,
          ]) {
            expect(Object.keys(form as object).sort()).toEqual(['code', 'message']);
            expect([...(form as typeof GOOD).message].length).toBeLessThanOrEqual(200);
          }
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
