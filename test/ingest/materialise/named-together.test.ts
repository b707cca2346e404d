import { afterEach, beforeEach, expect, test } from 'vitest';
import { itemOf } from '../../../api/coin/activity.ts';
import type { Store } from '../../../clickhouse/client.ts';
import { activityPage } from '../../../clickhouse/queries/activity/activity.ts';
import { type UnreadAccount, unreadAccounts } from '../../../clickhouse/queries/progress/unread-accounts.ts';
import { createMaterialiser } from '../../../ingest/materialise/materialiser.ts';
import { storedState } from '../../../ingest/stream/stored-state.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { embeddedDatabase } from '../../support/embedded.ts';
import { batchOf, key, logOf, PROGRAM, rawSignature } from './support/records.ts';
import { registering } from './support/registering.ts';

const SLOT = 50n;

let store: Store;
beforeEach(async () => {
  store = await embeddedDatabase('several');
});
afterEach(() => store.close());

const named = async () => inOrder(await unreadAccounts(store));
const inOrder = (names: readonly UnreadAccount[]) => names.map(({ token_account }) => token_account).sort();
const all = (...names: string[]) => ['', ...names.map(key)].sort();

function writer() {
  const apply = createMaterialiser({ store, programId: PROGRAM });
  let first = 0n;
  return async (...records: LogRecord[]) => {
    await apply(batchOf('transactions', logOf(records, first)));
    first += BigInt(records.length);
  };
}

test.each([0, 1, 2])(
  'three venue accounts that one transaction registers are all named where its logs show %i of its events',
  async (heard) => {
    const names = ['a', 'b', 'c'];
    const take = writer();
    await take(registering(SLOT, names, heard));
    expect(await named()).toEqual(all(...names));
    // One derived item stands for all of them, and shows no token account.
    const rows = await activityPage(store, key('mint'), 10, 0, false);
    expect(rows.map((row) => itemOf(row).summary)).toEqual([{ kind: 'Remote' }]);
    await take(registering(SLOT, names, 3));
    expect(await named()).toEqual(all(...names));
    expect(await activityPage(store, key('mint'), 10, 0, false)).toHaveLength(3);
  },
);

test('venue accounts that only a struck transaction registered are no longer named', async () => {
  const take = writer();
  await take(registering(SLOT, ['a', 'b'], 0));
  const ghost = [{ signature: encodeBase58(rawSignature('registers')), slot: SLOT }];
  const struck = (await storedState(store).verification?.tracesOf(ghost)) ?? [];
  await take({ kind: 'verified', slot: SLOT, struck });
  expect(await named()).toEqual([]);
  // Another transaction, which was not struck, names its own accounts.
  await take(registering(SLOT, ['c', 'd'], 0, 'stands'));
  expect(await named()).toEqual(all('c', 'd'));
});
