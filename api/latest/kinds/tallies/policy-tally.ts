import type { TalliedEscrow, TalliedPolicy } from '../../../../clickhouse/queries/analytics/tallied.ts';
import type { QuoteTotalsRow } from '../../../../clickhouse/queries/analytics/totals.ts';
import type { BacklogRow } from '../../../../clickhouse/queries/status/status-counts.ts';
import { createTable } from './table.ts';

const AMOUNTS = [
  ...(['fees_claimed', 'protocol_fees', 'routed_to_lp', 'routed_to_bankroll'] as const),
  ...(['profit_swept', 'paid_to_holders', 'credit_spent'] as const),
] as const;

const THERE = 1;
const AGENT = 2;
const LOCKED = 4;
const PAUSED = 8;

interface Counts {
  policies: number;
  agent: number;
  locked: number;
  paused: number;
}

/** What is known of an escrow: that it was not read, is empty, or is not. */
const UNREAD = 0;
const EMPTY = 1;
const FULL = 2;

/**
 * What sums over all policies are made of, 0.4 kB for each with its two addresses. A row that is put replaces the one
 * before it and is counted at once; the oldest time is searched for when it is asked for.
 */
export interface PolicyTally {
  size(): number;
  /** An escrow that was nobody's before counts as unread until it is put. */
  putPolicy(policy: TalliedPolicy): void;
  dropPolicy(address: string): void;
  isEscrow(address: string): boolean;
  /** What an escrow holds; undefined where it was not read. An address that is no escrow is ignored. */
  putEscrow(address: string, escrow: TalliedEscrow | undefined): void;
  totals(): QuoteTotalsRow[];
  backlog(): BacklogRow;
}

export function createPolicyTally(most: number): PolicyTally {
  const policies = createTable(most);
  const quotes = policies.column(Uint32Array);
  const escrowOf = policies.column(Uint32Array);
  const flags = policies.column(Uint8Array);
  const times = policies.column(Float64Array);
  const amounts = policies.column(BigUint64Array, AMOUNTS.length);
  const escrows = createTable(most);
  const holders = escrows.column(Uint32Array);
  const held = escrows.column(Uint8Array);
  const heldAt = escrows.column(Float64Array);
  const mints: string[] = [];
  const mintAt = new Map<string, number>();
  const sums: bigint[][] = [];
  const counts: Counts[] = [];
  let [full, unread] = [0, 0];

  const placeOfQuote = (mint: string): number => {
    const known = mintAt.get(mint);
    if (known !== undefined) return known;
    mintAt.set(mint, mints.length);
    sums.push(AMOUNTS.map(() => 0n));
    counts.push({ policies: 0, agent: 0, locked: 0, paused: 0 });
    return mints.push(mint) - 1;
  };
  /** Adds a policy to the sums, or takes it out. */
  const count = (place: number, by: 1 | -1) => {
    const quote = quotes[place] as number;
    const [sum, of] = [sums[quote] as bigint[], counts[quote] as Counts];
    for (let at = 0; at < AMOUNTS.length; at += 1)
      sum[at] = (sum[at] as bigint) + BigInt(by) * (amounts[place * AMOUNTS.length + at] as bigint);
    const flag = flags[place] as number;
    of.policies += by;
    if (flag & AGENT) of.agent += by;
    if (flag & LOCKED) of.locked += by;
    if (flag & PAUSED) of.paused += by;
  };
  /** Adds the policies of an escrow to the counts, or takes them out, by what is known of the escrow. */
  const countHeld = (place: number, by: 1 | -1) => {
    const of = by * (holders[place] as number);
    if (held[place] === FULL) full += of;
    if (held[place] === UNREAD) unread += of;
  };
  const hold = (escrow: string): number => {
    const known = escrows.placeOf(escrow);
    const place = known ?? escrows.allocate(escrow);
    if (known === undefined) {
      holders[place] = 0;
      held[place] = UNREAD;
    }
    countHeld(place, -1);
    holders[place] = (holders[place] as number) + 1;
    countHeld(place, 1);
    return place;
  };
  const letGo = (place: number) => {
    countHeld(place, -1);
    holders[place] = (holders[place] as number) - 1;
    countHeld(place, 1);
    if (holders[place] === 0) escrows.free(place);
  };

  return {
    size: policies.size,
    putPolicy: (policy) => {
      const known = policies.placeOf(policy.address);
      if (known !== undefined) count(known, -1);
      const before = known === undefined ? undefined : escrowOf[known];
      const place = known ?? policies.allocate(policy.address);
      escrowOf[place] = hold(policy.quote_escrow);
      if (before !== undefined) letGo(before);
      quotes[place] = placeOfQuote(policy.quote_mint);
      flags[place] =
        THERE |
        (policy.mode === 'Agent' ? AGENT : 0) |
        (policy.locked === 1 ? LOCKED : 0) |
        (policy.paused === 1 ? PAUSED : 0);
      times[place] = timeOf(policy.block_time);
      for (const [at, name] of AMOUNTS.entries()) amounts[place * AMOUNTS.length + at] = BigInt(policy[name]);
      count(place, 1);
    },
    dropPolicy: (address) => {
      const place = policies.placeOf(address);
      if (place === undefined) return;
      count(place, -1);
      letGo(escrowOf[place] as number);
      flags[place] = 0;
      policies.free(place);
    },
    isEscrow: (address) => escrows.placeOf(address) !== undefined,
    putEscrow: (address, escrow) => {
      const place = escrows.placeOf(address);
      if (place === undefined) return;
      countHeld(place, -1);
      held[place] = escrow === undefined ? UNREAD : escrow.amount === '0' ? EMPTY : FULL;
      countHeld(place, 1);
      heldAt[place] = timeOf(escrow?.block_time ?? null);
    },
    totals: () => {
      const oldest = new Float64Array(mints.length).fill(EVER);
      for (let place = 0; place < policies.end(); place += 1) {
        if (flags[place] === 0) continue;
        const quote = quotes[place] as number;
        oldest[quote] = Math.min(oldest[quote] as number, times[place] as number);
      }
      const rows = counts.map((of, at): QuoteTotalsRow => {
        const sum = sums[at] as bigint[];
        const amount = Object.fromEntries(AMOUNTS.map((name, column) => [name, String(sum[column])]));
        return {
          quote_mint: mints[at] as string,
          policy_count: of.policies,
          agent_count: of.agent,
          locked_count: of.locked,
          paused_count: of.paused,
          oldest_time: textOf(oldest[at] as number),
          ...(amount as Record<(typeof AMOUNTS)[number], string>),
        };
      });
      return rows
        .filter(({ policy_count: of }) => of > 0)
        .sort((a, b) => b.policy_count - a.policy_count || (a.quote_mint < b.quote_mint ? -1 : 1));
    },
    backlog: () => {
      let oldest = EVER;
      for (let place = 0; unread === 0 && place < escrows.end(); place += 1)
        if (holders[place] !== 0) oldest = Math.min(oldest, heldAt[place] as number);
      return { policies: policies.size(), backlog: full, unread, oldest_time: textOf(oldest) };
    },
  };
}

/** The oldest time of nothing. */
const EVER = Number.POSITIVE_INFINITY;
/**
 * Unix seconds; NaN for an unknown time, which makes the oldest unknown: `Math.min` gives NaN where any argument is.
 */
const timeOf = (text: string | null): number => (text === null ? Number.NaN : Number(text));
const textOf = (oldest: number): string | null => (Number.isFinite(oldest) ? String(oldest) : null);
