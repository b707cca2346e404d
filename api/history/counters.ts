import type { UndatedEvent } from '../../clickhouse/queries/analytics/undated.ts';
import type { HISTORY_KINDS } from '../../clickhouse/queries/history/coin.ts';
import type { HourSums } from '../../clickhouse/queries/history/event-sums.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { HOUR_S, isoTime, timeOf } from '../../schemas/units.ts';
import { CLAIMS_SOURCE } from '../coin/fees.ts';
import type { Amount, IncompleteFrom } from '../figures/missing.ts';
import { SWEPT_SOURCE } from '../figures/sources.ts';
import { isUnsettled } from '../figures/undated.ts';
import type { IndexState } from '../latest/index-state.ts';
import { countBefore } from './count-before.ts';

type Kind = (typeof HISTORY_KINDS)[number];
type Column = 'amount_a' | 'amount_b' | 'amount_c';

/** A counter of the policy's account, and the amounts of events that it sums. */
export interface Counter {
  field: 'fees_claimed' | 'profit_swept' | 'tokens_burned';
  source: string;
  amounts: readonly { kind: Kind; column: Column; amount: Amount }[];
}

export const FEES_CLAIMED: Counter & { field: 'fees_claimed' } = {
  field: 'fees_claimed',
  source: CLAIMS_SOURCE,
  amounts: [{ kind: 'FeesClaimed', column: 'amount_a', amount: 'FeesClaimed.quoteAmount' }],
};

/** What sweeps moved, as the account counts it: not the whole profit, of which a share stays where it is. */
export const PROFIT_SWEPT: Counter & { field: 'profit_swept' } = {
  field: 'profit_swept',
  source: SWEPT_SOURCE,
  amounts: [
    { kind: 'ProfitSwept', column: 'amount_b', amount: 'ProfitSwept.toLp' },
    { kind: 'ProfitSwept', column: 'amount_c', amount: 'ProfitSwept.toHolders' },
  ],
};

export const TOKENS_BURNED: Counter = {
  field: 'tokens_burned',
  source: 'indexer:BuybackBurned and BaseLegBurned events',
  amounts: [
    { kind: 'BuybackBurned', column: 'amount_b', amount: 'BuybackBurned.burned' },
    { kind: 'BaseLegBurned', column: 'amount_a', amount: 'BaseLegBurned.burned' },
  ],
};

export interface Events {
  /** Oldest hour first. */
  sums: readonly HourSums[];
  state: IndexState;
  /** From when on transactions lack an amount, and why, oldest first. */
  incomplete(amount: Amount): readonly IncompleteFrom[];
  concerns(event: UndatedEvent): boolean;
}

/**
 * Counters at the ends of hours, from events, for where no state of the account is known. What all ends have in common
 * is worked out once for each counter, as a thousand ends may be asked for together.
 * @param begin the first slot that is not before the end; null where that is not known.
 */
export function countersAtEnds(
  events: Events,
): (counter: Counter, end: number, begin: bigint | null) => Figure {
  const all = new Map<Counter, Summed>();
  const summedOf = (counter: Counter): Summed => {
    const known = all.get(counter) ?? summedUp(counter, events);
    all.set(counter, known);
    return known;
  };
  return (counter, end, begin) => {
    const { source, amounts } = counter;
    const { steps, undated, lacking } = summedOf(counter);
    const reason =
      unreadReason(events.state, begin) ?? lackingReason(lacking, end) ?? openReason(undated, end);
    if (reason !== null) return absent(source, reason);
    const { total: known = 0n, last = null } = steps[countBefore(steps, end) - 1] ?? {};
    let total = known;
    for (const event of undated)
      if (isBefore(event, end))
        for (const { kind, column } of amounts) if (kind === event.kind) total += BigInt(event[column]);
    return figure(total, source, total === 0n && last === null ? isoTime(end * HOUR_S) : timeOf(last));
  };
}

/** What a counter comes to with one more row of sums that counts for it, and the time of its newest event by then. */
interface CounterStep {
  hour: number;
  total: bigint;
  last: string;
}

interface Summed {
  steps: readonly CounterStep[];
  /** Events that count for it and have no time yet. */
  undated: UndatedEvent[];
  /** For each of its amounts, from when on transactions lack it. */
  lacking: (readonly IncompleteFrom[])[];
}

/** Shared by all pieces of answers that are made of the same rows. */
const stepsOfRows = new WeakMap<readonly HourSums[], Map<Counter, CounterStep[]>>();

function stepsOf(counter: Counter, sums: readonly HourSums[]): CounterStep[] {
  const ofCounters = stepsOfRows.get(sums) ?? new Map<Counter, CounterStep[]>();
  stepsOfRows.set(sums, ofCounters);
  const known = ofCounters.get(counter);
  if (known !== undefined) return known;
  const steps: CounterStep[] = [];
  for (const row of sums) {
    const amounts = counter.amounts.filter(({ kind }) => kind === row.kind);
    if (amounts.length === 0) continue;
    let { total, last } = steps.at(-1) ?? { total: 0n, last: row.last_time };
    for (const { column } of amounts) total += BigInt(row[column]);
    if (Number(row.last_time) > Number(last)) last = row.last_time;
    steps.push({ hour: row.hour, total, last });
  }
  ofCounters.set(counter, steps);
  return steps;
}

function summedUp(counter: Counter, { sums, state, incomplete, concerns }: Events): Summed {
  const { amounts } = counter;
  const steps = stepsOf(counter, sums);
  const counts = ({ kind }: { kind: string }) => amounts.some((amount) => amount.kind === kind);
  const undated = state.incomplete.undatedEvents.filter((event) => counts(event) && concerns(event));
  return { steps, undated, lacking: amounts.map(({ amount }) => incomplete(amount)) };
}

function unreadReason(
  { historyReason, openGaps, isSettled }: IndexState,
  begin: bigint | null,
): string | null {
  if (historyReason === null || !isSettled || openGaps.length === 0) return historyReason;
  const isOpen = openGaps.some(({ from_slot }) => begin === null || BigInt(from_slot) < begin);
  return isOpen ? historyReason : null;
}

/** Why an amount is not known up to an end; transactions of later hours that lack it do not matter. */
function lackingReason(lacking: Summed['lacking'], end: number): string | null {
  for (const from of lacking) {
    const last = from[countBefore(from, end) - 1];
    if (last !== undefined) return last.reason;
  }
  return null;
}

function openReason(undated: readonly UndatedEvent[], end: number): string | null {
  const one = undated.find((event) => !isBehind(event, end) && (isUnsettled(event) || !isBefore(event, end)));
  if (one === undefined) return null;
  return one.block_time === null
    ? 'the block time of an event that may be of before this moment is not known'
    : 'the block time of an event of before this moment was told just now: it is not counted yet';
}

const isBefore = ({ latest }: UndatedEvent, end: number) => latest !== null && Number(latest) < end * HOUR_S;
const isBehind = ({ earliest }: UndatedEvent, end: number) =>
  earliest !== null && Number(earliest) >= end * HOUR_S;
