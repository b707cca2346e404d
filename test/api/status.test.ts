import { describe, expect, test } from 'vitest';
import { venues } from '../../api/status/venues.ts';
import type { StatusResponse } from '../../schemas/responses/status.ts';
import { isoMillis, isoTime } from '../../schemas/units.ts';
import { NOW, SETTINGS } from './support/api.ts';
import {
  appliedRow,
  configRow,
  eventRow,
  gapRow,
  key,
  policyRow,
  signature,
  streamRow,
  TIME,
  tokenAccountRow,
  venueAccountRow,
} from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi();
const ASOF = isoTime(TIME);
const NOW_S = Math.floor(NOW / 1000);
const told = (changes: object = {}) =>
  streamRow(NOW - 1_000, { since: String((NOW_S - 60) * 1000), ...changes });
const program = (name: 'launchpad' | 'amm', address: string, readAt = NOW - 1_000) => ({
  ...{ program: name, address, read_at: String(readAt) },
});
const status = async () => (await held.api.get<StatusResponse>('/status')).body;
const escrow = (mint: string) => (policyRow(mint, 'usd') as Record<string, string>).quote_escrow as string;

describe('GET /status', () => {
  test('with an empty index, pause, cursor, keeper, attestor and venue figures are null or absent', async () => {
    const body = await status();
    expect(body.protocol).toEqual({ paused: null, source: 'chain:ProtocolConfig account', asOf: null });
    expect(body.indexer).toMatchObject({
      lastProcessedSignature: null,
      lastProcessedSlot: null,
      lastProcessedBlockTime: null,
      cursorUpdatedAt: null,
      history: { complete: false, fromSlot: null },
    });
    expect(body.keeper).toMatchObject({
      lastActionAt: null,
      last24h: [],
      unroutedFeeBacklogPolicyCount: { value: null, absent: true },
    });
    expect(body.attestor.perVenue).toMatchObject([
      { venue: 'perp_x', value: null, absent: true },
      { venue: 'options_x', value: null, absent: true },
    ]);
    expect(Object.keys(body.venues)).toEqual(['launch_x', 'amm_x', 'perp_x', 'options_x']);
    expect(body.venues.perp_x).toMatchObject({ absent: true, source: 'venue poller' });
  });

  test('before a slot is applied, slot and times are null, not 0 or the Unix epoch', async () => {
    const none = { slot: '0', block_time: null, last_signature: null, applied_at: 0 };
    await held.api.insert('applied', [appliedRow('accounts', 0, none)]);
    const { cursorUpdatedAt, lastProcessedSlot, incompleteTransactions, deadLetters } = (await status())
      .indexer;
    expect({ cursorUpdatedAt, lastProcessedSlot }).toEqual({
      cursorUpdatedAt: null,
      lastProcessedSlot: null,
    });
    for (const { value, asOf } of [incompleteTransactions, deadLetters])
      expect({ value, asOf }).toEqual({ value: 0, asOf: null });
  });

  test('protocol.paused comes from the ProtocolConfig account', async () => {
    await held.api.insert('protocol_config', [configRow({ paused: 1 })]);
    expect((await status()).protocol).toEqual({
      paused: true,
      source: 'chain:ProtocolConfig account',
      asOf: ASOF,
    });
  });

  test('the stream is connected, and history complete, only while ingestion keeps reporting that it is', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0)]);
    const tell = (row: object) => held.api.insert('stream_state', [told(row)]);
    expect((await status()).indexer).toMatchObject({
      stream: { connected: false, since: null, reason: 'no ingestion has told of its stream yet' },
      followed: { addresses: null, overRpc: null },
      history: { complete: false, fromSlot: '0' },
    });
    await tell({ read_at: String(NOW_S * 1000 - 60_000), lag_ms: '60000' });
    expect((await status()).indexer).toMatchObject({
      stream: {
        connected: false,
        since: isoTime(NOW_S - 60),
        reason: 'nothing that ingestion told since then is applied',
      },
      history: { complete: false, fromSlot: '0' },
    });
    await tell({ read_at: String(NOW_S * 1000 - 5_000), connected: 0, reason: 'refused' });
    expect((await status()).indexer).toMatchObject({
      stream: { connected: false, reason: 'refused' },
      history: { complete: false, fromSlot: '0' },
    });
    await tell({ read_at: String(NOW_S * 1000 - 1_000), over_rpc: 4 });
    expect((await status()).indexer).toMatchObject({
      stream: { connected: true, since: isoTime(NOW_S - 60), reason: null },
      followed: { addresses: 9, overRpc: 4 },
      history: { complete: true, fromSlot: '0' },
    });
  });

  test('the number of followed addresses is null until ingestion has connected or reports some', async () => {
    const tell = (row: object) =>
      held.api.insert('stream_state', [told({ read_at: String(NOW_S * 1000 - 1_000), ...row })]);
    const followed = async () => (await status()).indexer.followed;
    await tell({ connected: 0, reason: 'refused', addresses: 0, over_rpc: 0 });
    expect(await followed()).toEqual({ addresses: null, overRpc: null });
    await tell({ read_at: String(NOW_S * 1000 - 900), connected: 0, reason: 'refused', addresses: 9 });
    expect(await followed()).toMatchObject({ addresses: 9 });
    await tell({ read_at: String(NOW_S * 1000 - 800), addresses: 0, over_rpc: 0 });
    expect(await followed()).toEqual({ addresses: 0, overRpc: 0 });
  });

  test('lastProcessedSlot is the lowest marker of all partitions, lastProcessedSignature the newest', async () => {
    const other = { slot: '2100', block_time: TIME + 450, applied_at: (TIME + 460) * 1000 };
    await held.api.insert('stream_state', [told()]);
    await held.api.insert('applied', [
      appliedRow('transactions', 0),
      appliedRow('transactions', 1, {
        ...other,
        last_signature: signature('newer'),
        last_signature_slot: '2000',
        last_signature_index: 4,
      }),
      appliedRow('accounts', 0, { ...other, last_signature: null, last_signature_slot: '0' }),
    ]);
    expect((await status()).indexer).toMatchObject({
      lastProcessedSignature: signature('newer'),
      lastProcessedSlot: '2000',
      lastProcessedBlockTime: isoTime(TIME + 400),
      cursorUpdatedAt: isoMillis((TIME + 460) * 1000),
      history: { complete: true, fromSlot: '0', source: 'stream' },
      incompleteTransactions: { value: 0 },
      deadLetters: { value: 0 },
    });
  });

  test('history.fromSlot says from which slot on history is complete', async () => {
    await held.api.insert('stream_state', [told()]);
    await held.api.insert('applied', [appliedRow('transactions', 0)]);
    await held.api.insert('gaps', [gapRow('999')]);
    expect((await status()).indexer.history).toEqual({ complete: false, fromSlot: '1000', source: 'rpc' });
    await held.api.insert('gaps', [gapRow('499', { log_offset: '2' })]);
    expect((await status()).indexer.history).toEqual({ complete: false, fromSlot: '500', source: 'rpc' });
    await held.api.insert('gaps', [gapRow('0', { log_offset: '3', closed: 1 })]);
    expect((await status()).indexer.history).toEqual({ complete: true, fromSlot: '0', source: 'rpc' });
  });

  test('history.fromSlot is the first slot that was read if the gap below it is closed', async () => {
    await held.api.insert('stream_state', [told()]);
    await held.api.insert('applied', [appliedRow('transactions', 0)]);
    await held.api.insert('gaps', [gapRow('0', { closed: 1 })]);
    const place = { from_slot: '0', log_partition: 0, log_offset: '1', before: null, unread: null };
    await held.api.insert('gap_places', [{ ...place, first_slot: '700' }]);
    expect((await status()).indexer.history).toEqual({ complete: true, fromSlot: '700', source: 'rpc' });
  });

  test('history.reason names what keeps gaps open, and openGaps counts them', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0)]);
    await held.api.insert('gaps', [gapRow('999'), gapRow('2000', { from_slot: '2000' })]);
    const place = { log_partition: 0, log_offset: '1', before: null };
    await held.api.insert('gap_places', [
      { ...place, from_slot: '0', unread: null, first_slot: '700' },
      { ...place, from_slot: '2000', unread: signature('x'), first_slot: null },
    ]);
    const { history, openGaps } = (await status()).indexer;
    expect(openGaps).toBe(2);
    expect(history.reason).toMatch(
      /history begins in slot 700: name an archive node .*, or, if .* first transaction is later, set PROGRAM_START_SLOT/,
    );
    expect(history.reason).toContain(`transaction ${signature('x')} cannot be read`);
  });

  test('incomplete transactions and dead letters are counted', async () => {
    const cut = { slot: '5', block_time: TIME, policies: [], reason: 'cut' };
    await held.api.insert(
      'incomplete_transactions',
      ['a', 'b'].map((name) => ({ ...cut, signature: signature(name) })),
    );
    const letter = {
      what: 'event',
      at: 'x',
      reason: 'r',
      source: 'rpc',
      slot: null,
      byte_length: '0',
      bytes: '',
    };
    await held.api.insert(
      'dead_letters',
      [1, 2].map((time) => ({ ...letter, id: 'one', read_at: time })),
    );
    const { indexer } = await status();
    expect([indexer.incompleteTransactions.value, indexer.deadLetters.value]).toEqual([2, 1]);
  });

  test('keeper.last24h counts only kinds of the keeper; its counts are null while a gap may reach into the 24 hours', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0)]);
    const old = { block_time: Math.floor(NOW / 1000) - 86_400 };
    await held.api.insert('events', [
      eventRow('a', 'Routed', 1, { block_time: TIME - 7 }),
      eventRow('b', 'Routed', 2),
      eventRow('b', 'FeesClaimed', 3, old),
      eventRow('b', 'AgentSet', 4, { actor: 'authority', block_time: TIME + 9 }),
      eventRow('b', 'BuybackBurned', 5, { block_time: TIME - 90 }),
    ]);
    const { keeper } = await status();
    expect(keeper.lastActionAt).toBe(ASOF);
    expect(keeper.last24h).toEqual([
      { kind: 'BuybackBurned', count: 1, lastAt: isoTime(TIME - 90) },
      { kind: 'Routed', count: 2, lastAt: ASOF },
    ]);
    await held.api.insert('gaps', [gapRow('9')]);
    const reason = 'the transactions of slots 0 to 9 are not read yet';
    const { last24h } = (await status()).keeper;
    expect(last24h.map(({ count, countAbsentReason }) => [count, countAbsentReason])).toEqual([
      ...[1, 2].map(() => [null, expect.stringContaining(reason)]),
    ]);
  });

  test('the fee backlog counts quote escrows that hold something, and is absent while one is not read', async () => {
    await held.api.insert(
      'policies',
      ['a', 'b', 'c'].map((name) => policyRow(name, 'usd')),
    );
    await held.api.insert('token_accounts', [
      tokenAccountRow(escrow('a'), '5', { block_time: TIME - 3 }),
      tokenAccountRow(escrow('b'), '0'),
    ]);
    const source = 'chain:getTokenAccountBalance';
    await held.api.insert('stream_state', [told()]);
    expect((await status()).keeper.unroutedFeeBacklogPolicyCount).toEqual({
      value: null,
      source,
      asOf: null,
      absent: true,
      reason: '1 of 3 quote escrows are not read yet',
    });
    await held.api.insert('token_accounts', [tokenAccountRow(escrow('c'), '1', { exists: 0 })]);
    const present = { value: 1, source, asOf: isoTime(TIME - 3) };
    expect((await status()).keeper.unroutedFeeBacklogPolicyCount).toEqual(present);
  });

  test('the fee backlog is dated by the oldest balance that it was counted from, not by a marker', async () => {
    const backlog = async () => {
      const { value, asOf } = (await status()).keeper.unroutedFeeBacklogPolicyCount;
      return [value, asOf];
    };
    await held.api.insert('stream_state', [told()]);
    await held.api.insert('applied', [appliedRow('accounts', 0), appliedRow('transactions', 0)]);
    // Without policies the count is 0, as of what is applied.
    expect(await backlog()).toEqual([0, isoTime(TIME + 400)]);
    await held.api.insert(
      'policies',
      ['a', 'b'].map((name) => policyRow(name, 'usd')),
    );
    const holds = (mint: string, amount: string, slot: number, changes: object) =>
      held.api.insert('token_accounts', [
        tokenAccountRow(escrow(mint), amount, { version: String(BigInt(slot) << 64n), ...changes }),
      ]);
    await holds('a', '0', 2_000, { block_time: TIME - 90 });
    await holds('b', '7', 2_000, { exists: 0, block_time: TIME - 30 });
    expect(await backlog()).toEqual([0, isoTime(TIME - 90)]);
    await holds('b', '7', 2_001, { block_time: TIME - 5 });
    expect(await backlog()).toEqual([1, isoTime(TIME - 90)]);
    await holds('a', '0', 2_002, { block_time: TIME - 60 });
    await holds('b', '0', 2_002, { block_time: TIME - 4 });
    expect(await backlog()).toEqual([0, isoTime(TIME - 60)]);
    await holds('b', '0', 2_003, { block_time: null });
    expect(await backlog()).toEqual([0, null]);
  });

  test('the attestor’s age at a venue is that of the newest attestation there, without revoked accounts', async () => {
    await held.api.insert('venue_accounts', [
      venueAccountRow('a', 'p1', { remote_asof: TIME + 400 }),
      venueAccountRow('b', 'p2', { remote_asof: TIME + 450 }),
      venueAccountRow('b', 'p3', { remote_asof: TIME + 480, revoked: 1 }),
      venueAccountRow('b', 'o1', { asset_class: 32 }),
    ]);
    await held.api.insert('events', [eventRow('a', 'RemoteEquityReported', 1, { actor: 'reporter' })]);
    await held.api.insert('stream_state', [told()]);
    const { attestor } = await status();
    expect(attestor.lastActionAt).toBe(ASOF);
    expect(attestor.perVenue).toMatchObject([
      { venue: 'perp_x', value: 50, asOf: isoTime(TIME + 450) },
      { venue: 'options_x', value: null, absent: true },
    ]);
  });

  test('whether a program is reachable is null if its reading is over 60 s old, or over 120 s in the future', async () => {
    const readAt = NOW - 60_000;
    await held.api.insert('program_status', [
      { ...program('launchpad', SETTINGS.launchpadProgramId, readAt), exists: 1, error: null },
      { ...program('amm', key('amm'), readAt), exists: 0, error: 'timed out' },
    ]);
    const reach = async () => {
      const { launch_x, amm_x } = (await status()).venues;
      return [launch_x, amm_x];
    };
    expect(await reach()).toMatchObject([{ reachable: true }, { reachable: null, reason: 'timed out' }]);
    held.api.at(NOW + 1);
    const source = 'chain:getAccountInfo';
    const reason = `the newest reading is older than 60 s (${isoMillis(readAt)})`;
    expect(await reach()).toEqual([
      { reachable: null, programId: SETTINGS.launchpadProgramId, source, reason },
      { reachable: null, programId: key('amm'), source, reason },
    ]);
    held.api.at(readAt - 120_001);
    const ahead = { reachable: null, reason: expect.stringMatching(/still to come/) };
    expect(await reach()).toMatchObject([ahead, ahead]);
  });

  test('a response that calls a program reachable is valid until that reading is older than 60 s', async () => {
    const readAt = NOW - 59_000;
    const rows = [{ ...program('launchpad', SETTINGS.launchpadProgramId, readAt), exists: 1, error: null }];
    await held.api.insert('program_status', rows);
    const made = await held.api.latest.read((view) => venues(view, SETTINGS, null));
    expect(made.value.launch_x).toMatchObject({ reachable: true });
    expect(made.until).toBe(readAt + 60_001);
  });

  test('the age of a venue’s reading is absent while its time is more than 120 s in the future', async () => {
    const readAt = NOW + 120_001;
    await held.api.insert('venue_status', [{ venue: 'perp', ok: 1, read_at: String(readAt), error: null }]);
    const reason = `the newest reading has a time that is still to come (${isoMillis(readAt)})`;
    expect((await status()).venues.perp_x).toMatchObject({ value: null, absent: true, reason });
    held.api.at(NOW + 1);
    expect((await status()).venues.perp_x).toMatchObject({ value: -120, asOf: isoMillis(readAt) });
  });

  test('venues are judged by the program’s account, or by the age of the poller’s newest good reading', async () => {
    await held.api.insert('program_status', [
      { ...program('launchpad', SETTINGS.launchpadProgramId), exists: 1, error: null },
      { ...program('amm', key('amm')), exists: 0, error: 'timed out' },
    ]);
    await held.api.insert('venue_status', [
      { venue: 'perp', ok: 1, read_at: String(NOW - 30_500), error: null },
      { venue: 'perp', ok: 0, read_at: String(NOW - 500), error: 'timed out' },
      { venue: 'options', ok: 0, read_at: String(NOW - 500), error: 'refused' },
    ]);
    const { venues } = await status();
    const source = 'chain:getAccountInfo';
    expect(venues.launch_x).toEqual({ reachable: true, programId: SETTINGS.launchpadProgramId, source });
    expect(venues.amm_x).toEqual({ reachable: null, programId: key('amm'), source, reason: 'timed out' });
    expect(venues.perp_x).toEqual({ value: 30, source: 'venue poller', asOf: isoMillis(NOW - 30_500) });
    expect(venues.options_x).toMatchObject({ absent: true, reason: 'never answered: refused' });
  });
});
