import { describe, expect, test } from 'vitest';
import { charts } from '../../src/machines/index.ts';
import { lintChart } from '../kit/chart-lint.ts';

describe('house rules', () => {
  test.each(Object.entries(charts))('%s', (_, chart) => {
    expect(lintChart(chart)).toEqual([]);
  });
});
