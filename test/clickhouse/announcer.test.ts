import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Changes, noteKeys } from '../../clickhouse/changes.ts';
import type { Store } from '../../clickhouse/client.ts';
import { changePlace, changesAfter, createAnnouncer } from '../../clickhouse/queries/progress/changes.ts';
import { freshDatabase } from '../support/database.ts';
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

test('a change announced after an insert whose answer was lost still reaches a reader that saw that insert', async () => {
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

test('a reader that knows more writers than one query can name restarts at the end of the changes table', async () => {
  const server = await freshDatabase();
  try {
    const announce = createAnnouncer(server);
    await announce(changed('first'));
    // Each process that ever wrote has an entry, also after it has stopped writing.
    const past = Array.from({ length: 3_000 }, () => [randomUUID(), 1n] as const);
    const anew = await changesAfter(server, new Map([...past, ...(await changePlace(server))]));
    expect(anew.changes).toBeNull();
    await announce(changed('second'));
    const { changes } = await changesAfter(server, anew.place);
    expect([...(changes?.get('policies') ?? [])]).toEqual(['second']);
  } finally {
    await server.close();
  }
});
