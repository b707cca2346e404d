import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { STANDING } from '../../../clickhouse/queries/transactions/disputed.ts';
import { backfillStore } from '../../../ingest/operate/backfill/stored.ts';
import { signature, TIME } from '../../api/support/rows.ts';
import { embeddedDatabase } from '../../support/embedded.ts';

let store: Store;
beforeAll(async () => {
  store = await embeddedDatabase();
});
afterAll(() => store.close());

const read = (name: string, slot: bigint) => ({
  ...{
    signature: signature(name),
    slot: slot.toString(),
    failed: 0,
    tx_index: 0,
    has_index: 1,
    block_time: TIME,
  },
});
const standing = (name: string, of: number) => ({ slot: '5', signature: signature(name), standing: of });

test('lacking() returns transactions not stored whole in their slot, and those disputed or struck', async () => {
  const names = ['whole', 'disputed', 'struck', 'decided', 'moved'];
  await store.insert(
    'transactions',
    names.map((name) => read(name, name === 'moved' ? 6n : 5n)),
  );
  await store.insert('disputed_transactions', [
    standing('disputed', STANDING.disputed),
    standing('struck', STANDING.struck),
    standing('decided', STANDING.disputed),
  ]);
  await store.insert('disputed_transactions', [standing('decided', STANDING.decided)]);
  const asked = [...names, 'unheard'].map((name) => ({ fromSlot: 5n, signature: signature(name) }));
  const lacking = await backfillStore(store).lacking(asked);
  expect(lacking.map((one) => one.signature)).toEqual(
    ['disputed', 'struck', 'moved', 'unheard'].map((name) => signature(name)),
  );
  expect(await backfillStore(store).lacking([])).toEqual([]);
});

const cut = (name: string, policies: readonly string[], missing: readonly string[]) => ({
  ...{ signature: signature(name), slot: '7', block_time: TIME, reason: 'cut', policies, missing },
});

test('lacking() returns those with cut logs whose missing parts name no policy, and those disputed or struck', async () => {
  const names = ['derived', 'of a policy', 'of nobody', 'doubted', 'gone', 'elsewhere', 'less by now'];
  await store.insert('incomplete_transactions', [
    cut('derived', [], []),
    cut('of a policy', ['P'], ['Routed.toLp']),
    cut('of nobody', [], ['any']),
    cut('doubted', ['P'], ['any']),
    cut('gone', [], []),
    { ...cut('elsewhere', [], []), slot: '8' },
    cut('less by now', ['P'], ['any']),
  ]);
  await store.insert('incomplete_transactions', [cut('less by now', [], ['any'])]);
  await store.insert('disputed_transactions', [
    { ...standing('doubted', STANDING.disputed), slot: '7' },
    { ...standing('gone', STANDING.struck), slot: '7' },
  ]);
  const asked = names.map((name) => ({ fromSlot: 7n, signature: signature(name) }));
  const lacking = await backfillStore(store).lacking(asked);
  expect(lacking.map((one) => one.signature)).toEqual(
    ['of nobody', 'doubted', 'gone', 'elsewhere', 'less by now'].map((name) => signature(name)),
  );
});
