import type { UndatedEvent } from '../../clickhouse/queries/analytics/undated.ts';
import type { HISTORY_KINDS } from '../../clickhouse/queries/history/coin.ts';
import type { HourSums } from '../../clickhouse/queries/history/event-sums.ts';
import { absent, type Figure, figure } from '../../schemas/figure.ts';
import { HOUR_S, isoTime, timeOf } from '../../schemas/units.ts';
import { CLAIMS_SOURCE } from '../coin/fees.ts';
import type { Amount } from '../figures/missing.ts';
import { SWEPT_SOURCE } from '../figures/sources.ts';
import type { IndexState } from '../latest/index-state.ts';

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

/** What moved, as the account counts it: not the whole profit, of which a share stays. */
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
  sums: readonly HourSums[];
  state: IndexState;
  /** Why an amount is not told by all transactions. */
  incomplete(amount: Amount): string | null;
  concerns(event: UndatedEvent): boolean;
}

/**
 * A counter at the end of an hour from events: what the chain has of it where no state is known.
 * @param begin the first slot that is not before the end; null where that is not known.
 */
export function counterFromEvents(
  counter: Counter,
  events: Events,
  end: number,
  begin: bigint | null,
): Figure {
  const { source, amounts } = counter;
  const reason = missingReason(counter, events, end, begin);
  if (reason !== null) return absent(source, reason);
  let total = 0n;
  let last: string | null = null;
  const kinds = new Map(amounts.map(({ kind, column }) => [kind as string, column]));
  for (const row of events.sums) {
    if (row.hour >= end || !kinds.has(row.kind)) continue;
    for (const { kind, column } of amounts) if (kind === row.kind) total += BigInt(row[column]);
    if (last === null || Number(row.last_time) > Number(last)) last = row.last_time;
  }
  for (const event of undatedOf(counter, events))
    if (isBefore(event, end))
      for (const { kind, column } of amounts) if (kind === event.kind) total += BigInt(event[column]);
  return figure(total, source, timeOf(last) ?? isoTime(end * HOUR_S));
}

function missingReason(counter: Counter, events: Events, end: number, begin: bigint | null): string | null {
  const { state } = events;
  const isOpen = state.openGaps.some(({ from_slot }) => begin === null || BigInt(from_slot) < begin);
  if (state.historyReason !== null && (isOpen || state.openGaps.length === 0)) return state.historyReason;
  for (const { amount } of counter.amounts) {
    const reason = events.incomplete(amount);
    if (reason !== null) return reason;
  }
  const isOpenInTime = undatedOf(counter, events).some(
    (event) => !isBefore(event, end) && !isBehind(event, end),
  );
  return isOpenInTime ? 'the block time of an event that may be of before this moment is not known' : null;
}

const undatedOf = ({ amounts }: Counter, { state, concerns }: Events): UndatedEvent[] =>
  state.incomplete.undatedEvents.filter(
    (event) => concerns(event) && amounts.some(({ kind }) => kind === event.kind),
  );

const isBefore = ({ latest }: UndatedEvent, end: number) => latest !== null && Number(latest) < end * HOUR_S;
const isBehind = ({ earliest }: UndatedEvent, end: number) =>
  earliest !== null && Number(earliest) >= end * HOUR_S;
