import { expect, test } from 'vitest';
import { createHandOver } from '../../../api/latest/feed.ts';
import type { ChangedTable } from '../../../clickhouse/changes.ts';
import type { ProtocolHistoryResponse } from '../../../schemas/responses/history.ts';
import { awaited } from '../../support/awaited.ts';
import { key, policyRow, tokenAccountRow } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';
import { at, balance, HOUR, NOW, START, seed } from './support/stage.ts';

const handOver = createHandOver();
const begunLater = { created_at: START + HOUR + 5, block_time: START };
const [second, third] = [policyRow('n', 'usd', begunLater), policyRow('o', 'usd', begunLater)];
type Named = { address: string; bankroll: string };
const hoursOf = (row: object, hwm: string, amount: string) => [
  at(1, 1150, 'policies', { address: (row as Named).address, hwm, venue_count: 0 }),
  balance(1, 1150, amount, (row as Named).bankroll),
];

const held = useApi(
  async (api) => {
    await seed(api);
    await api.insert('policies', [second]);
    await api.insert('token_accounts', [tokenAccountRow((second as Named).bankroll, '7')]);
    await api.insert('account_hours', [...hoursOf(second, '5', '9'), ...hoursOf(third, '1', '2')]);
    handOver.noteUnknownChanges();
  },
  { memory: { handOver } },
);

/** Announced as by materialise: a change in an hour that has not passed does not affect kept passed hours. */
async function written(row: object): Promise<void> {
  await held.api.insert('policies', [row]);
  handOver.note(new Map([['policies' as ChangedTable, new Set([(row as Named).address])]]));
  handOver.applied();
}

const until = async (end: number) => {
  const { body } = await held.api.get<ProtocolHistoryResponse>(`/analytics/history?from=${START}&to=${end}`);
  return body.items.at(-1)?.byQuote;
};
const lastPassed = () => until(START + 5 * HOUR);
/** Repeats the request, as one that comes while a batch is taken up is answered with the state before it. */
const soon = (sums: object) => awaited(async () => expect(await lastPassed()).toMatchObject(sums));
const later = (slot: bigint) => (slot << 64n).toString();

test('a closed policy drops out of the sums of a passed hour, and is in them again once its account exists again', async () => {
  const both = await lastPassed();
  expect(both).toMatchObject([{ policyCount: 2, hwm: { value: '35' }, bankroll: { value: '309' } }]);
  await written({ ...second, exists: 0, version: later(1_605n) });
  await soon([{ policyCount: 1, hwm: { value: '30' }, bankroll: { value: '300' } }]);
  await written({ ...second, version: later(1_606n) });
  await soon(both as object);
});

test('a new policy in place of a closed one changes past sums, though the number of policies is the same', async () => {
  expect(await lastPassed()).toMatchObject([{ policyCount: 2, hwm: { value: '35' } }]);
  await held.api.insert('policies', [{ ...second, exists: 0, version: later(1_605n) }]);
  await written(third);
  await soon([{ policyCount: 2, hwm: { value: '31' }, bankroll: { value: '302' } }]);
});

test('a policy created after all passed hours does not make their sums be queried again', async () => {
  await lastPassed();
  const asked = held.api.queries('PARTITION BY h.address');
  expect(asked).toBeGreaterThan(0);
  await written(policyRow('p', 'usd', { created_at: START + 6 * HOUR + 5, block_time: START }));
  await awaited(async () => expect(await until(NOW / 1000)).toMatchObject([{ policyCount: 3 }]));
  expect(await lastPassed()).toMatchObject([{ policyCount: 2, hwm: { value: '35' } }]);
  expect(held.api.queries('PARTITION BY h.address')).toBe(asked);
});

test('a policy with created_at in the far future does not change passed hours', async () => {
  const before = await lastPassed();
  const beyondAllHours = String((2 ** 32 + 1) * 3600);
  await written(policyRow('q', 'usd', { created_at: beyondAllHours, block_time: START }));
  await awaited(async () => expect((await held.api.get(`/coins/${key('q')}`)).status).toBe(200));
  expect(await lastPassed()).toEqual(before);
});
