import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { type StateCells, tracked } from '../../api/latest/state-cells.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Getters of object literals as the formatter writes them; those of classes are indented by two spaces. */
const OF_A_LITERAL = /^( {4,}|.*[{,] *)(get|set) \w+\(/m;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;

const MADE = 5_000;

/** Bytes that each object leaves in old space after it was dropped. @param make gets something to close over */
function leftOf(make: (seen: number[]) => unknown): number {
  const old = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? 0;
  collect();
  const before = old();
  for (let at = 0; at < MADE; at += 1) make(Array.from({ length: 200 }, () => at));
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  return (old() - before) / MADE;
}

test('no object literal of the product has getters, as V8 keeps them and all that they close over in old space', () => {
  const seenBy = (seen: number[]) => ({
    get first() {
      return seen[0];
    },
  });
  expect(leftOf(seenBy)).toBeGreaterThan(1_000);
  const files = globSync('{api,clickhouse,ingest,runtime,schemas,start}/**/*.ts', { cwd: ROOT });
  expect(files.length).toBeGreaterThan(400);
  const withOne = files.filter((file) => OF_A_LITERAL.test(readFileSync(path.join(ROOT, file), 'utf8')));
  expect(withOne).toEqual([]);
});

test('an object of the tracked index state does not keep what it closes over in old space', () => {
  const cell = { value: {}, stamp: 0, until: 0, usedAt: 0 };
  const cells: StateCells = { progress: cell, missing: cell, ranked: cell };
  expect(leftOf((seen) => tracked(cells, () => seen))).toBeLessThan(200);
});
