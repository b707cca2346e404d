import { createHash } from 'node:crypto';
import type { ChangedTable } from '../../../../clickhouse/changes.ts';
import { encodeRow, ownerOf } from '../../../../devnet/bytes/account.ts';
import type { Chain } from '../../../../devnet/chain/chain.ts';
import type { ChainTransactionFacts } from '../../../../devnet/chain/history.ts';
import { TOKEN_2022_PROGRAM } from '../../../../devnet/program/state/known-programs.ts';
import {
  type Key,
  type Policy,
  REMOTE,
  type TableName,
  type Tables,
  type VenueAccount,
} from '../../../../devnet/program/state/state.ts';
import type { Topic } from '../../../../ingest/log/port.ts';
import type { Reading } from '../../../../schemas/readings.ts';
import type {
  AccountRecord,
  LogRecord,
  MarkerRecord,
  TransactionRecord,
} from '../../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { isoMillis } from '../../../../schemas/units.ts';
import { venueOfClass } from '../../../../schemas/venues/remote.ts';
import { routed, transaction } from '../../../ingest/materialise/support/records.ts';
import { ours } from '../../../schemas/support/program-calls.ts';

/** A batch of each topic. */
export type Batches = Partial<Record<Topic, readonly LogRecord[]>>;

/** Changes of these tables. Each alone changes an answer, whichever of the others are announced. */
export interface LastChanges extends Batches {
  tables: readonly ChangedTable[];
  /** Which answers it changes. */
  in: 'histories' | 'others';
}

/** Tables for which no answer would show that a change was not announced. */
export const LEFT_OUT = {
  /** Counted anew each second. */
  dead_letters: true,
  /** A brought state is a closing state of its hour too, and that is announced with it. */
  brought_changes: true,
  /** So is the state of a slot whose time was told: where its hour begins is announced with it. */
  hour_slots: true,
} as const satisfies Partial<Record<ChangedTable, true>>;

export interface Stage {
  /** Whose figures are changed; the names of three of them are changed in three places. */
  policies: readonly [Policy, Policy, Policy];
  remote: VenueAccount;
  /** Signature of an event's transaction, which comes late. */
  event: string;
}

/** Signatures of transactions after a slot that claimed fees, oldest first: hours and totals count those. */
export function claimsSince(chain: Chain, slot: bigint): string[] {
  const isClaim = ({ failed, events }: ChainTransactionFacts) =>
    failed === null && events.some(({ kind, fields }) => kind === 'FeesClaimed' && fields.quoteAmount > 0n);
  return [...chain.history()]
    .filter((block) => block.slot > slot)
    .flatMap(({ transactions }) => transactions.filter(isClaim))
    .map(({ signature }) => signature);
}

/** What the changes below are made of; null where the chain has not all of it yet. */
export function stageOf(chain: Chain): Stage | null {
  const { policies, venues, pools, models, origins } = chain.state();
  const [one, two, three] = [...policies.values()].filter(({ mint, quoteMint }) =>
    pools.has(chain.addresses.pool(mint, quoteMint)),
  );
  const remote = [...venues.values()].find(
    ({ kind, revoked, assetClass }) => kind === REMOTE && !revoked && venueOfClass(assetClass) === 'perp',
  );
  const [event] = claimsSince(chain, 0n);
  if (one === undefined || two === undefined || three === undefined || remote === undefined) return null;
  if (event === undefined || models.size === 0 || origins.size === 0) return null;
  return { policies: [one, two, three], remote, event };
}

export interface LastChangesOptions {
  chain: Chain;
  stage: Stage;
  /** A slot of an hour that has ended, in which nothing happened. */
  quiet: bigint;
  /** Records of the last transactions, which are not in the log yet. */
  newest: readonly LogRecord[];
  /** The record of the stage's event, which is not in the log yet either. */
  late: TransactionRecord;
  /** Unix milliseconds of readings. */
  readAt: number;
}

/** The batches that must come before the changes, and the changes, in an order in which each of them shows. */
export function lastChanges(options: LastChangesOptions): { before: Batches; changes: LastChanges[] } {
  const { chain, stage, quiet, newest, late, readAt } = options;
  const state = chain.state();
  const { addresses: address } = chain;
  const { slot: tip } = chain.tip();
  let writes = 1n << 40n;
  const written = <T extends TableName>(table: T, value: Tables[T], slot = tip + 1n): AccountRecord => {
    writes += 1n;
    return {
      ...{
        kind: 'account',
        source: 'stream',
        slot,
        blockTime: chain.timeOf(slot),
        address: raw(value.address),
      },
      owner: raw(ownerOf(table, value, chain.programId)),
      ...{
        lamports: 1n,
        data: encodeRow(table, value),
        writeVersion: writes,
        signature: null,
        expected: null,
      },
    };
  };
  const reading = (read: Reading): LogRecord => ({ kind: 'reading', readAt, reading: read });
  const marker = (slot: bigint, change: Partial<MarkerRecord> = {}): MarkerRecord => ({
    ...{ kind: 'marker', slot, parent: slot - 1n, blockTime: chain.timeOf(slot) },
    ...change,
  });

  const [one, two, three] = stage.policies;
  const of = <T extends TableName>(table: T, key: Key): Tables[T] => state[table].get(key) as Tables[T];
  const mint = (policy: Policy, change: Partial<Tables['mints']>) =>
    written('mints', { ...of('mints', policy.mint), program: TOKEN_2022_PROGRAM, ...change });
  const named = (policy: Policy, name: string) =>
    mint(policy, { metadata: { name, symbol: name, uri: DOCUMENT }, metadataPointer: policy.mint });
  const metadata = (name: string): AccountRecord => ({
    ...written('metadata', { address: METADATA, mint: two.mint, name, symbol: name, uri: DOCUMENT }),
    expected: 'metadata',
  });
  const [origin] = state.origins.values();
  const [model] = state.models.values();
  const pool = of('pools', address.pool(one.mint, one.quoteMint));
  const curve = of('curves', pool.globalConfig);
  const bankroll = of('tokens', address.ofPolicy(three.mint).bankroll);
  const config = of('configs', address.config.address);

  const before: Batches = {
    accounts: [
      ...[named(one, 'before'), mint(two, { metadata: null, metadataPointer: METADATA }), metadata('before')],
      ...[named(three, 'before'), written('tokens', bankroll)],
      ...[written('policies', one), written('pools', { ...pool, status: 0 }), marker(tip + 1n)],
    ],
    transactions: [marker(tip + 1n)],
  };
  const accounts = [
    written('policies', { ...one, feesClaimed: one.feesClaimed + 1n }),
    written('venues', { ...stage.remote, remoteEquity: stage.remote.remoteEquity + 1n }),
    written('tokens', { ...bankroll, amount: bankroll.amount + 1n }),
    named(one, 'changed'),
    metadata('changed'),
    written('pools', {
      ...pool,
      status: 0,
      totalQuoteFundRaising: pool.totalQuoteFundRaising + 1n,
      virtualQuote: 2n * pool.virtualQuote,
    }),
    written('configs', { ...config, paused: !config.paused }),
    written('origins', { ...(origin as Tables['origins']), name: 'changed' }),
    written('models', { ...(model as Tables['models']), name: 'changed' }),
  ];
  const pair = { symbol: 'PAIR', name: 'Pair', decimals: 6, category: 'crypto', logoUrl: null };
  const readings: Reading[] = [
    {
      ...{
        type: 'venue_account',
        venueAccount: stage.remote.address,
        venue: 'perp',
        equity: '1.5',
        notional: '1',
      },
      ...{ reason: null, reachable: true, error: null, venueTime: readAt },
    },
    { type: 'venue_status', venue: 'perp', ok: true, error: null },
    { type: 'program_status', program: 'amm', address: config.ammProgram, exists: true, error: null },
    priced(one.quoteMint, '1.5', readAt),
    { type: 'catalogue', rows: [{ mint: one.quoteMint, launchable: true, launchpadReady: true, ...pair }] },
    { type: 'metadata', mint: three.mint, uri: DOCUMENT, imageUrl: 'https://example.com/a.png', error: null },
    { type: 'currencies', items: [{ currency: 'BTC', spotPrice: '1', hasOptions: true, hasPerps: false }] },
  ];
  const hour = { slot: quiet, blockTime: chain.timeOf(quiet) };
  const changes: LastChanges[] = [
    {
      tables: [
        ...(['policies', 'venue_accounts', 'token_accounts', 'mints', 'metadata_accounts', 'pools'] as const),
        ...(['protocol_config', 'origins', 'models', 'events', 'policy_transactions'] as const),
        ...(['policy_totals', 'account_readings', 'venue_status', 'program_status', 'prices'] as const),
        ...(['catalogue', 'metadata_documents', 'currencies'] as const),
      ],
      ...{ in: 'others', accounts, transactions: newest, readings: readings.map(reading) },
    },
    // Where a curve changes, all pools are read again.
    {
      tables: ['curve_configs'],
      in: 'others',
      accounts: [written('curves', { ...curve, curveType: 1 - curve.curveType })],
    },
    // With each of these, all of history is read again.
    {
      tables: ['account_hours'],
      in: 'histories',
      accounts: [written('policies', { ...one, hwm: one.hwm + 1n }, quiet)],
    },
    {
      tables: ['unseen_changes'],
      in: 'histories',
      accounts: [{ kind: 'unseen', address: raw(two.address), slot: quiet }],
    },
    {
      tables: ['carried_accounts'],
      in: 'histories',
      accounts: [{ kind: 'carried', address: raw(bankroll.address), carried: false, ...hour }],
    },
    {
      tables: ['stream_holes'],
      in: 'histories',
      accounts: [marker(tip + 1n, { missed: { after: quiet - 1n, to: quiet } })],
    },
    // Events are used for an hour only where states do not show it.
    { tables: ['events_by_slot'], in: 'histories', transactions: [late] },
    // Sums over all policies are absent from then on.
    {
      tables: ['stream_state'],
      in: 'others',
      readings: [
        reading({
          ...{ type: 'stream', connected: true, since: readAt, reason: null, addresses: 1, overRpc: 0 },
          listed: false,
        }),
      ],
    },
    // The reason then says how many accounts are named and were never read.
    {
      tables: ['named_accounts'],
      in: 'others',
      transactions: [
        transaction('names one more', tip + 1n, [
          { ...ours({ emit: routed(1n, 'of which nobody has read') }), program: raw(chain.programId) },
        ]),
      ],
    },
  ];
  return { before, changes };
}

/** @param at unix milliseconds */
const priced = (mint: Key, usd: string, at: number): Reading => ({
  ...{ type: 'price', mint, source: 'catalogue', usd, observedAt: isoMillis(at) },
  ...{ startMarketCapUsd: null, graduationMarketCapUsd: null, graduationMultiple: null },
});

/** First prices of all quote assets: without one a policy has no place in an order by dollars. */
export function firstPrices(chain: Chain, readAt: number): LogRecord[] {
  const quotes = new Set([...chain.state().policies.values()].map(({ quoteMint }) => quoteMint));
  return [...quotes].map((mint) => ({ kind: 'reading', readAt, reading: priced(mint, '1', readAt) }));
}

const raw = (key: Key): Uint8Array => decodeKey(key) as Uint8Array;
const METADATA = encodeBase58(createHash('sha256').update('metadata').digest());
const DOCUMENT = 'https://example.com/a.json';
