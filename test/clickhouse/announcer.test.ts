import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Changes, noteKeys } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import { changePlace, changesAfter, createAnnouncer } from '../../clickhouse/queries/progress/changes.ts';
import { embeddedDatabase } from '../support/embedded.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase();
});
afterAll(() => store.close());

const changed = (address: string): Changes => {
  const changes: Changes = new Map();
  noteKeys(changes, 'policies', [address]);
  return changes;
};

test('what is announced behind an insert whose answer was lost is told to who has read that insert', async () => {
  let isLost = false;
  const announce = createAnnouncer({
    ...store,
    insert: async (table, rows) => {
      await store.insert(table, rows);
      if (isLost) throw new Error('reset by peer');
    },
  });
  await announce(changed('first'));
  let place = await changePlace(store);
  const read = async () => {
    const found = await changesAfter(store, place);
    place = found.place;
    return found.changes === null ? 'anything' : [...(found.changes.get('policies') ?? [])];
  };
  isLost = true;
  await expect(announce(changed('second'))).rejects.toThrow('reset by peer');
  expect(await read()).toEqual(['second']);
  isLost = false;
  await announce(changed('third'));
  expect(await read()).toEqual(['third']);
});
