import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteRows } from '../support/delete-rows.ts';
import { type AuditStage, openAuditStage } from './support/audit-stage.ts';
import { damageTo } from './support/damage.ts';

let stage: AuditStage;
let damage: ReturnType<typeof damageTo>;
beforeAll(async () => {
  stage = await openAuditStage(process.env.SEED ?? 'audit-not-comparable', 30);
  damage = damageTo(stage.store);
  await stage.live(200);
  await stage.settled();
  await stage.stopWriting();
  expect((await stage.audit()).lines).toEqual([]);
});
afterAll(() => stage.close());

describe('figures that cannot be compared are reported as such, not as differences', () => {
  test('while a gap of history is open', async () => {
    const gap = await damage.one<Record<string, unknown>>('SELECT * FROM gaps FINAL WHERE from_slot = 0');
    const next = (by: bigint) => String(BigInt(gap.log_offset as string) + by);
    await stage.store.insert('gaps', [{ ...gap, closed: 0, log_offset: next(1n) }]);
    const mend = await damage.overwrite(
      'policies',
      `mint = '${(await damage.someRouted()).mint}'`,
      'version',
      {
        protocol_fees: '0',
      },
    );
    const { address } = await damage.one<{ address: string }>(
      `SELECT address FROM policies FINAL WHERE mint = '${(await damage.someRouted()).mint}'`,
    );
    const mendHour = await damage.overwrite(
      'account_hours',
      `address = '${address}' AND hour = (SELECT max(hour) FROM account_hours WHERE address = '${address}')`,
      'version',
      { protocol_fees: '0' },
    );
    const { lines, summary } = await stage.audit();
    await mend();
    await mendHour();
    await stage.store.insert('gaps', [{ ...gap, log_offset: next(2n) }]);
    expect(lines).toEqual([]);
    expect(summary).toContain(' 0 chain counters');
    expect(summary).toContain(`${(await damage.policies()) * 8} chain counters: a gap of history is open`);
    expect(summary).toContain('1 account states: differs while a gap of history is open');
  });

  test('while a transaction of the policy is incomplete', async () => {
    const { mint } = await damage.someRouted();
    const { address } = await damage.one<{ address: string }>(
      `SELECT address FROM policies FINAL WHERE mint = '${mint}'`,
    );
    await stage.store.insert('incomplete_transactions', [
      { signature: 'cut', slot: '5', block_time: 1_760_000_000, policies: [address], reason: 'cut' },
    ]);
    const { lines, summary } = await stage.audit();
    await deleteRows(stage.store, 'incomplete_by_slot', "signature = 'cut'");
    expect(lines).toEqual([]);
    expect(summary).toContain(`${((await damage.policies()) - 1) * 8} chain counters`);
    expect(summary).toContain('8 chain counters: a transaction of the policy is incomplete');
  });

  test('after a materialiser was killed between writing events and their sums', async () => {
    const event = await damage.someRouted();
    const row = await damage.one<Record<string, unknown>>(
      `SELECT * FROM events FINAL WHERE slot = {slot:UInt64} AND signature = {signature:String} AND position = {position:UInt16}`,
      { slot: event.slot, signature: event.signature, position: event.position },
    );
    const broken = { ...event, slot: '1000000', signature: 'not applied' };
    await stage.store.insert('events', [{ ...row, ...broken, amount_a: '5' }]);
    const { lines, summary } = await stage.audit();
    await damage.remove('events', broken);
    await damage.remove('events_by_slot', broken);
    expect(lines).toEqual([]);
    expect(summary).toContain('1 policy totals: events of a batch that is not applied yet');
    expect(summary).toContain('days: events of a batch that is not applied yet');
    const [totals] = await stage.store.query<{ count: string }>(
      'SELECT toString(count()) AS count FROM policy_totals FINAL',
    );
    expect(summary).toContain(`compared ${Number(totals?.count) - 1} policy totals`);
  });

  test('after a materialiser was killed just after it wrote another time of an event', async () => {
    const row = await damage.one<Record<string, unknown>>(
      "SELECT * FROM events FINAL WHERE kind = 'Routed' ORDER BY block_time DESC, slot DESC LIMIT 1",
    );
    const later = Number(row.block_time) + 600;
    await stage.store.insert('events', [{ ...row, block_time: later }]);
    const { lines, summary } = await stage.audit();
    await stage.store.insert('events', [row]);
    expect(lines).toEqual([]);
    expect(summary).toContain('1 policy totals: events of a batch that is not applied yet');
    expect(summary).toContain('days: events of a batch that is not applied yet');
    expect((await stage.audit()).summary).not.toContain('policy totals: events of');
  });

  test('where the index is behind the chain', async () => {
    await stage.live(20);
    const { lines, summary } = await stage.audit({ waitMs: 0 });
    expect(lines).toEqual([]);
    expect(summary).toMatch(/\d+ account states: the index has not come to the slot of the chain’s answer/);
  });
});
