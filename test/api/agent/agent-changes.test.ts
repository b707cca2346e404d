import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Store } from '../../../clickhouse/client.ts';
import { agentChangedBehind } from '../../../clickhouse/queries/activity/agent-changes.ts';
import { policiesAt, policySlots } from '../../../clickhouse/queries/states/policy.ts';
import { type EventGroup, groupedEvents } from '../../../schemas/extract/groups.ts';
import { storedSummary } from '../../../schemas/program/stored-summary.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { freshDatabase } from '../../support/database.ts';
import { eventRow, key, policyRow } from '../support/rows.ts';

let store: Store;
beforeAll(async () => {
  store = await freshDatabase();
});
afterAll(() => store.close());

const set = (mint: string, slot: number, change: object = {}) =>
  eventRow(mint, 'AgentSet', slot, {
    slot: String(slot),
    summary: JSON.stringify({ oldAgent: key('a'), newAgent: key('b') }),
    ...change,
  });

const [thereAndBack] = groupedEvents(
  ['b', 'a'].map((agent, place) => ({
    ...{ event: 'AgentSet', of: null, place },
    fields: { newAgent: decodeKey(key(agent)) as Uint8Array },
  })),
) as [EventGroup];

test('agentChangedBehind finds the slot of the newest real change of the agent after a given slot, or null', async () => {
  await store.insert('events', [
    ...[set('one', 100), set('one', 120), set('two', 300)],
    // Neither of these changes who the agent is.
    eventRow('one', 'FeesClaimed', 130, { slot: '130' }),
    set('one', 140, { summary: JSON.stringify({ oldAgent: key('a'), newAgent: key('a') }) }),
    // A derived event, of cut logs: the agent before is not known.
    set('cut', 50, { summary: JSON.stringify({ newAgent: key('b') }) }),
    // Two changes, there and back, in a transaction whose logs were cut: one item stands for both.
    set('back', 60, { summary: storedSummary(thereAndBack) }),
    // The chain does not have its transaction any more.
    set('struck', 70),
  ]);
  await store.insert('events', [set('struck', 70, { kind: '', has_index: 2 })]);
  const behind = (mint: string, slot: bigint) => agentChangedBehind(store, key(mint), slot);
  const asked = [behind('one', 99n), behind('one', 119n), behind('one', 120n), behind('two', 299n)];
  expect(await Promise.all(asked)).toEqual([120n, 120n, null, 300n]);
  const others = [behind('cut', 0n), behind('struck', 0n), behind('nobody', 0n), behind('two', 2n ** 63n)];
  expect(await Promise.all(others)).toEqual([50n, null, null, null]);
  expect([await behind('back', 59n), await behind('back', 60n)]).toEqual([60n, null]);
});

test('the index holds a policy at the slot of its newest state, and at none if the policy is gone or unknown', async () => {
  const held = policyRow('held', 'usd', { slot: '41', version: '41' });
  await store.insert('policies', [held, { ...held, slot: '45', version: '45' }]);
  await store.insert('policies', [policyRow('gone', 'usd', { exists: 0 })]);
  const { address: gone } = policyRow('gone', 'usd');
  const slots = await policySlots(store, [held.address as string, gone as string, key('none')]);
  expect([...slots.values()]).toEqual([{ address: held.address, slot: '45' }]);
  expect((await policiesAt(store, [held.address as string])).get(held.address as string)?.slot).toBe('45');
});
