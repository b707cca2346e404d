import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepPassed } from '../../../ingest/materialise/quote-hours.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { ledgerTransactions } from '../support/ledger-facts.ts';
import { type AuditStage, openAuditStage } from './support/audit-stage.ts';
import { damageTo } from './support/damage.ts';

/** In slots. */
const AN_HOUR = 9_000n;

let stage: AuditStage;
let damage: ReturnType<typeof damageTo>;
beforeAll(async () => {
  stage = await openAuditStage(process.env.SEED ?? 'audit-found', 30);
  damage = damageTo(stage.store);
  await stage.live(150);
  stage.chain.skipTo(stage.chain.tip().slot + AN_HOUR);
  await stage.live(50);
  await stage.settled();
  await stage.stopWriting();
  expect(await keepPassed(stage.store, new AbortController().signal, async () => {})).toBeGreaterThan(0);
  expect((await stage.audit()).lines).toEqual([]);
});
afterAll(() => stage.close());

/** A node that reads few accounts at once, whose lists come in short pages. */
const frugal = (): Rpc => ({
  ...stage.rpc,
  getMultipleAccounts: async (addresses, options) => {
    if (addresses.length > 5) throw new RpcError('refused', 'Too many inputs provided; max 5');
    return stage.rpc.getMultipleAccounts(addresses, options);
  },
  getSignaturesForAddress: (address, before, limit, options) =>
    stage.rpc.getSignaturesForAddress(address, before, Math.min(limit, 7), options),
});

describe('a difference is found', () => {
  test('where a sum of a policy is wrong, at the slot where the events pass it', async () => {
    const { mint, slot } = await damage.someRouted();
    const before = await damage.one<{ sum: string }>(
      `SELECT toString(sum(amount_a)) AS sum FROM events FINAL WHERE mint = {mint:String} AND kind = 'Routed' AND slot < {slot:UInt64}`,
      { mint, slot },
    );
    const mend = await damage.overwrite('policy_totals', `mint = '${mint}'`, 'log_offset', {
      routed: before.sum,
    });
    const { lines, summary } = await stage.audit();
    await mend();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      new RegExp(
        `^difference {2}${mint} {2}policy_totals.routed of partition 0 {2}served ${before.sum} {2}events \\d+ {2}first at slot ${slot}$`,
      ),
    );
    expect(summary).toMatch(/; 1 difference$/);
  });

  test('where a sum of a day is wrong', async () => {
    const { day, quote } = await damage.one<{ day: string; quote: string }>(
      'SELECT toString(day) AS day, quote_mint AS quote FROM quote_days FINAL WHERE protocol_cut > 0 ORDER BY day, quote_mint LIMIT 1',
    );
    const { slot } = await damage.one<{ slot: string }>(
      `SELECT min(slot) AS slot FROM events FINAL WHERE quote_mint = {quote:String} AND kind = 'Routed' AND amount_b > 0
           AND toDate(fromUnixTimestamp64Second(assumeNotNull(block_time), 'UTC')) = toDate({day:String})`,
      { quote, day },
    );
    const mend = await damage.overwrite(
      'quote_days',
      `day = '${day}' AND quote_mint = '${quote}'`,
      'log_offset',
      {
        protocol_cut: '0',
      },
    );
    const { lines } = await stage.audit();
    await mend();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(
      `quote_days.protocol_cut of ${day}, quote ${quote}, partition 0  served 0  events`,
    );
    expect(lines[0]).toContain(`first at slot ${slot}`);
  });

  test('where the count of events of a kind is wrong', async () => {
    const { span } = await damage.one<{ span: string }>(
      "SELECT min(span) AS span FROM kind_spans FINAL WHERE kind = 'Routed' AND event_count > 0",
    );
    const mend = await damage.overwrite('kind_spans', `kind = 'Routed' AND span = ${span}`, 'log_offset', {
      event_count: '0',
    });
    const { lines } = await stage.audit();
    await mend();
    expect(lines.some((text) => text.includes('kind_spans.event_count of Routed'))).toBe(true);
  });

  test('where the count of events of a kind is wrong and an event of the interval was struck', async () => {
    const { span } = await damage.one<{ span: string }>(
      "SELECT min(span) AS span FROM kind_spans FINAL WHERE kind = 'Routed' AND event_count > 0",
    );
    const slot = String(BigInt(span) * 512n);
    const { mint } = await damage.someRouted();
    const row = await damage.one<Record<string, unknown>>(
      `SELECT * FROM events FINAL WHERE mint = '${mint}' AND kind = 'Routed' LIMIT 1`,
    );
    const struck = { mint, slot, signature: 'struck', position: 0 };
    await stage.store.insert('events', [{ ...row, ...struck, kind: '', has_index: 255 }]);
    const mend = await damage.overwrite('kind_spans', `kind = 'Routed' AND span = ${span}`, 'log_offset', {
      event_count: '0',
    });
    const { lines } = await stage.audit();
    await mend();
    await damage.remove('events', struck);
    await damage.remove('events_by_slot', struck);
    expect(lines.some((text) => text.includes('kind_spans.event_count of Routed'))).toBe(true);
  });

  test('where a policy has no sums at all', async () => {
    const { mint } = await damage.someRouted();
    const row = await damage.one<Record<string, unknown>>(
      `SELECT * FROM policy_totals FINAL WHERE mint = '${mint}'`,
    );
    await deleteRows(stage.store, 'policy_totals', 'mint = {mint:String}', { mint });
    const { lines } = await stage.audit();
    await stage.store.insert('policy_totals', [row]);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.every((line) => line.startsWith(`difference  ${mint}  policy_totals.`))).toBe(true);
  });

  test('where a counter of a served policy is too low, against its events, hours and account', async () => {
    const { mint } = await damage.someRouted();
    const where = `mint = '${mint}'`;
    const { counter, address } = await damage.one<{ counter: string; address: string }>(
      `SELECT toString(protocol_fees) AS counter, address FROM policies FINAL WHERE ${where}`,
    );
    const mend = await damage.overwrite('policies', where, 'version', { protocol_fees: '0' });
    const { lines } = await stage.audit();
    await mend();
    expect(lines).toHaveLength(3);
    expect(lines[0]).toContain(`${mint}  Policy.protocol_fees  chain 0  events ${counter}  first at slot`);
    expect(lines[1]).toContain(`account_hours.protocol_fees of ${address}  kept ${counter}  served 0`);
    expect(lines[2]).toContain(
      `${mint}  policies.protocol_fees of ${address}  served 0  chain ${counter}  first at slot`,
    );
  });

  test('where the served state of an account differs from the chain', async () => {
    const { address, amount } = await damage.one<{ address: string; amount: string }>(
      `SELECT t.address AS address, toString(t.amount) AS amount FROM token_accounts AS t FINAL
         WHERE address IN (SELECT bankroll FROM policies FINAL) AND t.amount > 0 ORDER BY address LIMIT 1`,
    );
    const { mint } = await damage.one<{ mint: string }>(
      `SELECT mint FROM policies FINAL WHERE bankroll = {address:String}`,
      { address },
    );
    const mend = await damage.overwrite('token_accounts', `address = '${address}'`, 'version', {
      amount: '7',
    });
    const { lines, summary } = await stage.audit();
    expect(await stage.audit({ rpc: frugal() })).toEqual({ lines, summary });
    await mend();
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`account_hours.amount of ${address}  kept ${amount}  served 7`);
    expect(lines[1]).toContain(`${mint}  token_accounts.amount of ${address}  served 7  chain ${amount}`);
  });

  test('where the closing state of an hour differs from the events up to it', async () => {
    const { mint } = await damage.someRouted();
    const { address, hour } = await damage.one<{ address: string; hour: number }>(
      `SELECT address, hour FROM account_hours FINAL
         WHERE address IN (SELECT address FROM policies WHERE mint = '${mint}') ORDER BY hour LIMIT 1`,
    );
    const where = `address = '${address}' AND hour = ${hour}`;
    const mend = await damage.overwrite('account_hours', where, 'version', { tokens_burned: '3' });
    const { lines } = await stage.audit();
    await mend();
    const found = lines.find((line) => line.includes('in the hour of'));
    expect(found).toContain(`${mint}  Policy.tokens_burned in the hour of `);
    expect(found).toContain('kept 3  events ');
    expect((await stage.audit()).lines).toEqual([]);
  });

  test('where the stored sums of an hour differ from those of its states', async () => {
    // Sums of hours that earlier tests damaged and mended are made again.
    await keepPassed(stage.store, new AbortController().signal, async () => {});
    const { hour, sums } = await damage.one<{ hour: number; sums: string }>(
      "SELECT hour, sums FROM quote_hours FINAL WHERE sums != '[]' ORDER BY hour DESC LIMIT 1",
    );
    const [first, ...others] = JSON.parse(sums) as object[];
    const damaged = JSON.stringify([{ ...first, hwm: '3' }, ...others]);
    const mend = await damage.overwrite('quote_hours', `hour = ${hour}`, 'written_at', { sums: damaged });
    const { lines } = await stage.audit();
    await mend();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('quote_hours.sums at ');
    expect(lines[0]).toContain('"hwm":"3"');
  });

  test('where an account of the chain is served as not existing', async () => {
    const { address } = await damage.one<{ address: string }>(
      'SELECT address FROM mints FINAL WHERE exists ORDER BY address LIMIT 1',
    );
    const mend = await damage.overwrite('mints', `address = '${address}'`, 'version', { exists: 0 });
    const { lines } = await stage.audit();
    await mend();
    expect(
      lines.some((line) => line.includes(`${address}  mints.exists of ${address}  served 0  chain 1`)),
    ).toBe(true);
  });

  test('where accounts that the chain does not have are served, of each table', async () => {
    const served = ['mints', 'token_accounts', 'venue_accounts'].map((table, at) => ({
      table,
      address: encodeBase58(new Uint8Array(32).fill(at + 1)),
    }));
    const expected: unknown[] = [];
    for (const { table, address } of served) {
      const row = await damage.one<Record<string, unknown>>(
        `SELECT * FROM ${table} FINAL WHERE exists ORDER BY address LIMIT 1`,
      );
      await stage.store.insert(table, [{ ...row, address }]);
      const figure = `${table}.exists of ${address}  served 1  chain 0  first at slot ${row.slot}`;
      expected.push(expect.stringContaining(figure));
    }
    const { lines } = await stage.audit();
    for (const { table, address } of served)
      await deleteRows(stage.store, table, 'address = {address:String}', { address });
    expect(lines).toHaveLength(served.length);
    expect(lines).toEqual(expect.arrayContaining(expected));
  });

  test('where a token account is served for an address that is a mint on the chain', async () => {
    const { address } = await damage.one<{ address: string }>(
      'SELECT address FROM mints FINAL WHERE exists ORDER BY address LIMIT 1',
    );
    const balance = { address, slot: '1', version: '1', source: 'rpc', exists: 1, amount: '7' };
    await stage.store.insert('token_accounts', [balance]);
    const { lines } = await stage.audit();
    await deleteRows(stage.store, 'token_accounts', `address = '${address}'`);
    expect(
      lines.some((line) => line.includes(`token_accounts.exists of ${address}  served 1  chain 0`)),
    ).toBe(true);
  });

  test('where a policy of the chain is not stored, at its first slot', async () => {
    const { address, mint } = await damage.one<{ address: string; mint: string }>(
      'SELECT address, mint FROM policies FINAL WHERE exists ORDER BY address LIMIT 1',
    );
    const row = await damage.one<Record<string, unknown>>(
      `SELECT * FROM policies FINAL WHERE address = '${address}'`,
    );
    await deleteRows(stage.store, 'policies', 'address = {address:String}', { address });
    const { lines } = await stage.audit();
    const unlisted = {
      ...stage.rpc,
      getProgramAccounts: () => Promise.reject(new RpcError('refused', 'no')),
    };
    const blind = await stage.audit({ rpc: unlisted });
    expect((await stage.audit({ rpc: frugal() })).lines).toEqual(lines);
    await stage.store.insert('policies', [row]);
    const of = (all: readonly string[]) =>
      all.filter((line) => line.includes(`policies.exists of ${address}`));
    expect(of(lines)).toEqual([
      expect.stringMatching(
        `^difference {2}${mint} {2}policies.exists of ${address} {2}served nothing {2}chain 1 {2}first at slot [1-9]\\d*$`,
      ),
    ]);
    expect(of(blind.lines)).toEqual([]);
    expect(blind.summary).toContain('no node lists them');
    expect((await stage.audit()).lines).toEqual([]);
  });

  test('where a fact is missing in one of the two event tables', async () => {
    const event = await damage.someRouted();
    const [row] = await stage.store.query<Record<string, unknown>>(
      `SELECT * FROM events_by_slot FINAL WHERE slot = {slot:UInt64} AND signature = {signature:String} AND position = {position:UInt16}`,
      { slot: event.slot, signature: event.signature, position: event.position },
    );
    await damage.remove('events_by_slot', event);
    const { lines } = await stage.audit();
    await stage.store.insert('events_by_slot', [row as object]);
    const line = lines.find((text) => text.includes('events up to transaction'));
    expect(line).toContain(`difference  ${event.mint}  events up to transaction ${event.signature}`);
    expect(line).toContain(`first at slot ${event.slot}`);
    expect(lines.some((text) => text.includes('quote_days.event_count'))).toBe(true);
    expect((await stage.audit()).lines).toEqual([]);
  });

  test('where a fact is missing in both event tables, at its slot on the chain', async () => {
    const event = await damage.someRouted();
    const row = await damage.one<Record<string, unknown>>(
      `SELECT * FROM events FINAL WHERE slot = {slot:UInt64} AND signature = {signature:String} AND position = {position:UInt16}`,
      { slot: event.slot, signature: event.signature, position: event.position },
    );
    await damage.remove('events', event);
    await damage.remove('events_by_slot', event);
    const { lines } = await stage.audit();
    const blind = await stage.audit({ rpc: null });
    expect((await stage.audit({ rpc: frugal() })).lines).toEqual(lines);
    const slots = new Map(
      ledgerTransactions(stage.chain).map(({ signature, slot }) => [signature, slot] as const),
    );
    const lacking = (isLacking: (slot: bigint) => boolean, answer: () => Promise<null>) =>
      stage.audit({
        rpc: {
          ...stage.rpc,
          getTransaction: (one) =>
            isLacking(slots.get(one) ?? 0n) ? answer() : stage.rpc.getTransaction(one),
        },
      });
    const at = BigInt(event.slot);
    const older = await lacking(
      (slot) => slot < at,
      async () => null,
    );
    const newer = await lacking(
      (slot) => slot > at,
      () => Promise.reject(new RpcError('refused', 'of a version')),
    );
    const unlisted = await stage.audit({
      rpc: {
        ...stage.rpc,
        getSignaturesForAddress: () => Promise.reject(new RpcError('unreachable', 'away')),
      },
    });
    await stage.store.insert('events', [row]);
    const of = (figure: string, all: readonly string[]) =>
      all.find((line) => line.includes(`${event.mint}  ${figure}`));
    expect(of('policy_totals.routed of', lines)).toContain(`first at slot ${event.slot}`);
    expect(of('Policy.protocol_fees', lines)).toContain(`first at slot ${event.slot}`);
    expect(of('policy_totals.routed of', blind.lines)).toContain('first slot unknown');
    expect(blind.summary).toContain(' 0 account states');
    // The first difference may be unreadable: no first slot is named, and no difference is left out.
    for (const { lines: all } of [older, unlisted])
      expect(of('policy_totals.routed of', all)).toContain('first slot unknown');
    expect(of('policy_totals.routed of', newer.lines)).toContain(`first at slot ${event.slot}`);
    for (const one of [older, newer, unlisted]) {
      expect(one.lines).toHaveLength(lines.length);
      expect(one.summary).toMatch(/[1-9]\d* account states/);
    }
    expect((await stage.audit()).lines).toEqual([]);
  });
});
