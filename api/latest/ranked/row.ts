import {
  type DayWindow,
  type EventsOfDay,
  type EventWindow,
  eventsAt,
} from '../../../clickhouse/queries/ranking/day-windows.ts';
import type {
  RankedAccount,
  RankedPolicy,
  RankedPool,
  RankedSums,
  RankedToken,
} from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import {
  OWN_KEYS,
  OWN_SORTS,
  type OwnSort,
  perSumSort,
  SUM_KEYS,
  SUM_SORTS,
  type SumSort,
} from '../../../schemas/responses/rankings.ts';
import type { RowWithPart } from '../memos/row-parts.ts';
import { type Packed, packing } from './packed.ts';

/** What a policy is found and ranked by, and what its row on a page shows, as it was read. */
export interface RankedRow extends Record<OwnSort | SumSort, bigint>, RowWithPart {
  /** Unique among the rows that were put beside each other: counted from 0 on, as they came. */
  readonly number: number;
  address: string;
  mint: string;
  quote: string;
  bankroll: string;
  /** Address of its pool of the launchpad, once that was seen and as long as it is there. */
  pool: string | null;
  mode: string;
  origin: number;
  /** 0 for every Passive policy. */
  model: number;
  locked: boolean;
  paused: boolean;
  cap: bigint | null;
  balance: bigint | null;
  /** Events of the last 24 hours: the count holds up to `until`, and memory can compute it up to `countableUntil`. */
  events: number;
  /** Block time of the newest of them. */
  lastEvent: string | null;
  countableUntil: number;
  /** Lower case, to search in. */
  name: string;
  symbol: string;
  /** There is no such policy any more. */
  gone: boolean;
  shown: Shown;
}

const POLICY = packing<RankedPolicy, 'address' | 'mint' | 'quote_mint' | 'bankroll'>(
  ...(['address', 'mint', 'quote_mint', 'bankroll'] as const),
);
const POOL = packing<RankedPool, 'address' | 'base_mint' | 'quote_mint'>(
  ...(['address', 'base_mint', 'quote_mint'] as const),
);
const SUMS = packing<RankedSums, 'mint'>('mint');
const ACCOUNT = packing<RankedAccount, 'address'>('address');
const TOKEN = packing<RankedToken, 'address'>('address');

/** What was read of a policy beside what stands in its row; null where nothing was found. */
interface Shown {
  policy: Packed<RankedPolicy> | null;
  pool: Packed<RankedPool> | null;
  totals: Packed<RankedSums> | null;
  /** Of its bankroll. */
  account: Packed<RankedAccount> | null;
  token: Packed<RankedToken> | null;
  window: EventWindow | null;
}

const NOTHING_OWN = Object.fromEntries(OWN_SORTS.map((sort) => [sort, 0n])) as Record<OwnSort, bigint>;
const NOTHING_SUMMED = perSumSort(() => 0n);
const EVER = Number.POSITIVE_INFINITY;

/** @param texts what many policies have in common, each text kept once for all of them */
export function rankedRow(policy: RankedPolicy, number: number, texts: Map<string, string>): RankedRow {
  const { address, mint, bankroll } = policy;
  const row: RankedRow = {
    ...{ number, address, mint, quote: '', bankroll, pool: null },
    ...{ mode: '', origin: 0, model: 0, locked: false, paused: false },
    ...NOTHING_OWN,
    ...{ cap: null, ...NOTHING_SUMMED, balance: null, events: 0, lastEvent: null, countableUntil: EVER },
    ...{ name: '', symbol: '', gone: false, stamp: 0, until: EVER, usedAt: 0, part: null },
    shown: { policy: null, pool: null, totals: null, account: null, token: null, window: null },
  };
  setPolicy(row, policy, texts);
  return row;
}

/** What filters look at, as one text. */
export const attributesOf = ({
  mode,
  quote,
  origin,
  model,
  locked,
  paused,
  name,
  symbol,
}: RankedRow): string => [mode, quote, origin, model, locked, paused, name, symbol].join('\n');

/** This and the setters below return whether anything is another than before. */
export function setPolicy(row: RankedRow, policy: RankedPolicy, texts: Map<string, string>): boolean {
  const text = POLICY.pack(policy);
  const changed = row.shown.policy !== text || row.quote !== policy.quote_mint;
  row.shown.policy = text;
  row.quote = shared(policy.quote_mint, texts);
  row.mode = shared(policy.mode, texts);
  row.origin = policy.origin_id;
  row.model = policy.mode === 'Passive' ? 0 : policy.model_id;
  row.locked = policy.locked === 1;
  row.paused = policy.paused === 1;
  for (const sort of OWN_SORTS) row[sort] = BigInt(policy[OWN_KEYS[sort].column]);
  return changed;
}

export function setPool(row: RankedRow, pool: RankedPool | undefined): boolean {
  const text = POOL.pack(pool);
  const address = pool?.address ?? null;
  const changed = row.shown.pool !== text || row.pool !== address;
  row.shown.pool = text;
  row.pool = address;
  row.cap = pool?.cap == null ? null : BigInt(pool.cap);
  return changed;
}

export function setAccount(row: RankedRow, account: RankedAccount | undefined): boolean {
  const text = ACCOUNT.pack(account);
  const changed = row.shown.account !== text;
  row.shown.account = text;
  row.balance = account?.exists === 1 ? BigInt(account.amount) : null;
  return changed;
}

export function setSums(row: RankedRow, totals: RankedSums | undefined): boolean {
  const text = SUMS.pack(totals);
  const changed = row.shown.totals !== text;
  row.shown.totals = text;
  for (const sort of SUM_SORTS) row[sort] = BigInt(totals?.[SUM_KEYS[sort].column] ?? 0);
  return changed;
}

export function setToken(row: RankedRow, token: RankedToken | undefined): boolean {
  const text = TOKEN.pack(token);
  const changed = row.shown.token !== text;
  row.shown.token = text;
  const there = token?.exists === 1 ? token : undefined;
  row.name = there?.name?.toLowerCase() ?? '';
  row.symbol = there?.symbol?.toLowerCase() ?? '';
  return changed;
}

/** @param now unix milliseconds */
export function setWindow(row: RankedRow, window: DayWindow<EventWindow> | undefined, now: number): boolean {
  const before = [row.events, row.until, row.lastEvent].join();
  row.shown.window = window?.row ?? null;
  row.countableUntil = window === undefined ? EVER : window.until * 1000;
  moveOn(row, now);
  return before !== [row.events, row.until, row.lastEvent].join();
}

/** Moves the window on to this moment. @returns whether it could be computed from what was read */
export function moveOn(row: RankedRow, now: number): boolean {
  const told = row.countableUntil > now;
  const { window } = row.shown;
  const at = window === null ? undefined : eventsAt(window, Math.floor(now / 1000));
  row.events = at?.row.count ?? 0;
  row.lastEvent = at?.row.last_time ?? null;
  row.until = told ? Math.min((at?.until ?? EVER) * 1000, row.countableUntil) : 0;
  return told;
}

/** What a row shows, as it was read. */
export interface ShownFacts {
  policy: RankedPolicy;
  pool: RankedPool | undefined;
  totals: RankedSums | undefined;
  account: RankedAccount | undefined;
  token: RankedToken | undefined;
  events: EventsOfDay;
}

export function shownOf(row: RankedRow): ShownFacts {
  const { address, mint, quote, bankroll, pool, shown, events, lastEvent } = row;
  return {
    policy: POLICY.unpack(shown.policy, { address, mint, quote_mint: quote, bankroll }) as RankedPolicy,
    pool: POOL.unpack(shown.pool, { address: pool ?? '', base_mint: mint, quote_mint: quote }),
    totals: SUMS.unpack(shown.totals, { mint }),
    account: ACCOUNT.unpack(shown.account, { address: bankroll }),
    token: TOKEN.unpack(shown.token, { address: mint }),
    events: { count: events, last_time: lastEvent },
  };
}

function shared(text: string, texts: Map<string, string>): string {
  const known = texts.get(text);
  if (known === undefined) texts.set(text, text);
  return known ?? text;
}
