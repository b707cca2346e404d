import { expect, test } from 'vitest';
import { createRanked } from '../../../api/latest/ranked/ranked.ts';
import type { Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';

const NEED = { launchpad: 'launchpad' };
const TURN_MS = 400;

let policies = 10;
let counted = 0;
/** A store of so many policies, of which none can be read. */
const store = {
  query: async (sql: string) => {
    if (!sql.includes('uniqExact(address)')) return [];
    counted += 1;
    return [{ count: String(policies) }];
  },
  lines: async () => '',
} as unknown as Store;

test('policies that are too many for memory are counted once a minute, and only while somebody asks', async () => {
  const ranked = createRanked(store, 5);
  let clock = 0;
  const turns = async (count: number, isAsked: boolean) => {
    counted = 0;
    for (let turn = 0; turn < count; turn += 1) {
      clock += TURN_MS;
      if (isAsked) {
        ranked.markInUse(clock);
        ranked.look(NEED, 0);
      }
      const changes: Changes = new Map([['token_accounts', new Set([`account ${turn}`])]]);
      (await ranked.load(store, changes, 0, clock))();
      await ranked.whenBuilt();
    }
    return counted;
  };
  await turns(3, true);
  expect(ranked.look(NEED, 0)).toBe('engine');
  expect(await turns(160, true)).toBe(1);
  expect(await turns(500, false)).toBe(0);

  policies = 3;
  await turns(200, true);
  expect(ranked.look(NEED, 0)).toBe('ready');
});
