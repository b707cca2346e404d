import { createHash } from 'node:crypto';
import { noSums, POLICY_SUMS } from '../../../clickhouse/sum-columns.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import {
  configAddress,
  modelAddress,
  originAddress,
  policyAddress,
  policyTokenAccounts,
  poolAddress,
  venueAddress,
} from '../../../schemas/solana/pda.ts';

/**
 * Rows as the first materialiser wrote them, with a test's changes: a value for every column but those that were added
 * since, which old rows lack and old tables do not have.
 */

export const rawKey = (name: string): Uint8Array => createHash('sha256').update(name).digest();
export const key = (name: string): string => encodeBase58(rawKey(name));
export const signature = (name: string): string => encodeBase58(createHash('sha512').update(name).digest());

export const PROGRAM = rawKey('program');
export const LAUNCHPAD = rawKey('launchpad');

/** Every state of a chain account is written at this slot and second unless a test says otherwise. */
export const SLOT = 1_000n;
export const TIME = 1_790_000_000;

const state = (slot: bigint) => ({
  slot: String(slot),
  version: String(slot << 64n),
  block_time: TIME,
  source: 'stream',
  exists: 1,
});

type Row = Record<string, unknown>;

export function policyRow(mint: string, quote: string, change: Row = {}): Row {
  const policy = policyAddress(PROGRAM, rawKey(mint));
  const accounts = policyTokenAccounts(PROGRAM, policy);
  return {
    address: encodeBase58(policy),
    ...state(SLOT),
    signature: null,
    mint: key(mint),
    quote_mint: key(quote),
    fee_key_mint: key('fee key'),
    authority: key('authority'),
    agent: null,
    guardian: key('guardian'),
    origin: encodeBase58(originAddress(PROGRAM, 1)),
    origin_id: 1,
    mode: 'Passive',
    model_id: 7,
    to_lp_bps: 4000,
    to_bankroll_bps: 6000,
    profit_to_lp_bps: 1000,
    profit_to_holders_bps: 2000,
    profit_to_bankroll_bps: 7000,
    risk: 50,
    target_asset: key('target'),
    target_leverage_x: 3,
    locked: 0,
    paused: 0,
    fees_claimed: '11',
    protocol_fees: '12',
    routed_to_lp: '13',
    routed_to_bankroll: '14',
    profit_swept: '15',
    paid_to_holders: '16',
    tokens_burned: '17',
    credit_spent: '18',
    hwm: '19',
    venue_count: 0,
    created_at: TIME - 1000,
    bankroll: encodeBase58(accounts.bankroll),
    quote_escrow: encodeBase58(accounts.quoteEscrow),
    base_escrow: encodeBase58(accounts.baseEscrow),
    holder_rewards: encodeBase58(accounts.holderRewards),
    ...change,
  };
}

export function venueAccountRow(mint: string, tokenAccount: string, change: Row = {}): Row {
  const policy = policyAddress(PROGRAM, rawKey(mint));
  return {
    address: encodeBase58(venueAddress(PROGRAM, policy, rawKey(tokenAccount))),
    ...state(SLOT),
    policy: encodeBase58(policy),
    token_account: key(tokenAccount),
    asset_mint: key('usd'),
    kind: 'Remote',
    asset_class: 16,
    revoked: 0,
    remote_account: '00'.repeat(32),
    remote_equity: '0',
    remote_notional: '0',
    remote_asof: 0,
    bridged_out: '0',
    ...change,
  };
}

export function tokenAccountRow(address: string, amount: string, change: Row = {}): Row {
  return { address, ...state(SLOT), mint: key('usd'), owner: key('owner'), amount, ...change };
}

export function mintRow(name: string, decimals: number, change: Row = {}): Row {
  return {
    address: key(name),
    ...state(SLOT),
    token_program: key('token program'),
    decimals,
    supply: '1000000000000000',
    name: null,
    symbol: null,
    uri: null,
    metadata_pointer: null,
    ...change,
  };
}

export const poolKey = (mint: string, quote: string): string =>
  encodeBase58(poolAddress(LAUNCHPAD, rawKey(mint), rawKey(quote)));

export function poolRow(mint: string, quote: string, change: Row = {}): Row {
  return {
    address: poolKey(mint, quote),
    ...state(SLOT),
    program: encodeBase58(LAUNCHPAD),
    status: 0,
    base_decimals: 6,
    quote_decimals: 6,
    supply: '1000000000000000',
    virtual_base: '1073025605596382',
    virtual_quote: '30000852951',
    real_base: '0',
    real_quote: '0',
    global_config: key('curve'),
    base_mint: key(mint),
    quote_mint: key(quote),
    ...change,
  };
}

export const curveRow = (change: Row = {}): Row => ({
  address: key('curve'),
  ...state(SLOT),
  curve_type: 0,
  ...change,
});

export function configRow(change: Row = {}): Row {
  return {
    address: encodeBase58(configAddress(PROGRAM)),
    ...state(SLOT),
    admin: key('admin'),
    reporter: key('reporter'),
    fee_destination: key('fees'),
    launchpad_program: encodeBase58(LAUNCHPAD),
    amm_program: key('amm'),
    paused: 0,
    protocol_fee_bps: 500,
    max_bankroll_bps: 9000,
    max_deviation_bps: 2000,
    max_remote_staleness: 120,
    min_risk_for_class: [0, 0, 0, 10, 80, 80, 0, 0],
    ...change,
  };
}

export function originRow(id: number, name: string, change: Row = {}): Row {
  const address = encodeBase58(originAddress(PROGRAM, id));
  return { address, ...state(SLOT), id, name, asset_class_mask: 79, max_risk: 100, ...change };
}

export function modelRow(id: number, name: string, change: Row = {}): Row {
  const address = encodeBase58(modelAddress(PROGRAM, id));
  return { address, ...state(SLOT), id, name, provider: 'maker', enabled: 1, registered_at: TIME, ...change };
}

export function eventRow(mint: string, kind: string, index: number, change: Row = {}): Row {
  return {
    policy: encodeBase58(policyAddress(PROGRAM, rawKey(mint))),
    mint: key(mint),
    quote_mint: key('usd'),
    slot: String(SLOT + BigInt(index)),
    signature: signature(`${mint} ${kind} ${index}`),
    position: 0,
    tx_index: 0,
    has_index: 1,
    block_time: TIME,
    kind,
    actor: 'keeper',
    summary: '{}',
    amount_a: '0',
    amount_b: '0',
    amount_c: '0',
    amount_d: '0',
    log_partition: 0,
    ...change,
  };
}

export function totalsRow(mint: string, change: Row = {}): Row {
  return {
    mint: key(mint),
    log_partition: 0,
    log_offset: '1',
    ...noSums(POLICY_SUMS),
    ...change,
  };
}

export function appliedRow(topic: 'accounts' | 'transactions', partition: number, change: Row = {}): Row {
  return {
    topic,
    log_partition: partition,
    log_offset: '10',
    slot: '2000',
    block_time: TIME + 400,
    last_signature: signature('last'),
    last_signature_slot: '2000',
    last_signature_index: 3,
    applied_at: (TIME + 401) * 1000 + 7,
    ...change,
  };
}

export function gapRow(toSlot: string, change: Row = {}): Row {
  return {
    from_slot: '0',
    log_partition: 0,
    log_offset: '1',
    to_slot: toSlot,
    to_time: null,
    closed: 0,
    ...change,
  };
}

/** Sums of a UTC day and a quote asset. */
export const dayRow = (day: string, quote: string, change: object = {}) => ({
  day,
  quote_mint: quote === '' ? '' : key(quote),
  log_partition: 0,
  log_offset: '1',
  routed_to_lp: '1',
  routed_to_bankroll: '2',
  protocol_cut: '3',
  profit: '4',
  buyback_spent: '5',
  event_count: '1',
  last_event: TIME,
  ...change,
});

/** What ingestion wrote about its stream at a time in unix milliseconds: connected for a minute, lists are whole. */
export const streamRow = (readAt: number, change: object = {}) => ({
  read_at: String(readAt),
  connected: 1,
  since: String(readAt - 60_000),
  reason: null,
  addresses: 9,
  over_rpc: 0,
  listed: 1,
  ...change,
});
