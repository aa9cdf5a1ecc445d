/** The list of charts, for the scripts that go through all of them. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyStateMachine } from 'xstate';

const index = resolve(import.meta.dirname, '..', 'src', 'machines', 'index.ts');

/** `charts` of src/machines/index.ts; ids are unique, because coverage goes by them. */
export async function loadCharts(): Promise<Readonly<Record<string, AnyStateMachine>>> {
  const { charts } = (await import(pathToFileURL(index).href)) as { charts: Record<string, AnyStateMachine> };
  const ids = Object.values(charts).map(({ id }) => id);
  const twice = ids.filter((id, position) => ids.indexOf(id) !== position);
  if (twice.length > 0) throw new Error(`charts share an id: ${twice.join(', ')}`);
  return charts;
}
