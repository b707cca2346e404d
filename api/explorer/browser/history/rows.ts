import type { Figure } from '../../../../schemas/figure.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import type { Step } from '../../../../schemas/responses/history.ts';
import type { Cell } from '../charts/numbers.ts';
import { scaled } from '../text/amounts.ts';
import { stamp } from '../text/times.ts';
import { inWords } from './reasons.ts';

/** What a policy, or all of a quote asset, had at a moment, in base units of that asset. */
export interface Row {
  time: string;
  bankroll: Amount;
  /** At venues: on chain, and attested where the program cannot see it. */
  deployed: Amount;
  /** The part of `deployed` that is attested. */
  attested: Amount;
  hwm: Amount;
  /** As old as the oldest part of the equity, which `time` does not say; null where a part has no time. */
  asOf: string | null;
  /** Set where this page took the row as a sample: the path of the answer that had it. */
  seen?: { path: string | null };
  /** Set on a row that stands for a time at which this page did not look: no answer has its numbers. */
  isUnseen?: true;
}

export interface Amount {
  base: bigint | null;
  reason: string | null;
}

const amountOf = (figure: Figure): Amount =>
  figure.value === null
    ? { base: null, reason: figure.reason === undefined ? null : inWords(figure.reason) }
    : { base: BigInt(figure.value), reason: null };

/** The sum or the difference of two amounts; absent, with the first reason, where one of them is. */
function together(left: Amount, right: Amount, sign: 1n | -1n): Amount {
  if (left.base === null) return left;
  if (right.base === null) return right;
  return { base: left.base + sign * right.base, reason: null };
}

/** The oldest `asOf` of the figures; null where one has none. */
export function oldestOf(figures: readonly Figure[]): string | null {
  const times = figures.map(({ asOf }) => asOf);
  return times.includes(null) ? null : (times.toSorted()[0] ?? null);
}

/** A moment of the past, as the histories of a policy and of the protocol have it. */
interface Moment {
  time: string;
  bankroll: Figure;
  deployed: Figure;
  attestedEquity: Figure;
  hwm: Figure;
}

export const rowOfHistory = ({ time, bankroll, deployed, attestedEquity, hwm }: Moment): Row => ({
  time,
  bankroll: amountOf(bankroll),
  deployed: amountOf(deployed),
  attested: amountOf(attestedEquity),
  hwm: amountOf(hwm),
  asOf: oldestOf([bankroll, deployed]),
});

/** What a policy has now, as it was answered at a time of the clock of the API. */
export function rowOfLoop(
  { step4_deployed, step5_profit }: LoopResponse,
  there: number,
  path: string | null,
): Row {
  return {
    time: new Date(there).toISOString(),
    bankroll: amountOf(step4_deployed.bankrollUnspent),
    deployed: together(amountOf(step4_deployed.local), amountOf(step4_deployed.remote), 1n),
    attested: amountOf(step4_deployed.remote),
    hwm: amountOf(step5_profit.hwm),
    asOf: oldestOf([step4_deployed.bankrollUnspent, step4_deployed.local, step4_deployed.remote]),
    seen: { path },
  };
}

const PARTS = ['bankroll', 'deployed', 'attested', 'hwm'] as const;
const same = (a: Row, b: Row) => PARTS.every((part) => a[part].base === b[part].base);
const sameReasons = (a: Row, b: Row) => PARTS.every((part) => a[part].reason === b[part].reason);

/**
 * The rows with one more sample, in place of one of the same time; of a run of equal rows only the first and the last
 * are kept.
 */
export function withSample(rows: readonly Row[], sample: Row, most: number): Row[] {
  const earlier = rows.at(-1)?.time === sample.time ? rows.slice(0, -1) : rows;
  const [before, last] = [earlier.at(-2), earlier.at(-1)];
  if (last !== undefined && sample.time < last.time) return [...rows];
  const kept =
    before !== undefined && last !== undefined && same(before, last) && same(last, sample)
      ? earlier.slice(0, -1)
      : earlier;
  return [...kept, sample].slice(-most);
}

const STEP_MS: Record<Step, number> = { hour: 3_600_000, day: 86_400_000 };
/** Whether a step ends at this time; the last item may be of a step that is not over. */
export const isWhole = (time: string, step: Step): boolean => Date.parse(time) % STEP_MS[step] === 0;

/** Samples no farther apart than this show that the page looked on all the while. */
const LOOKING_MS = 60_000;
/** An unseen time begins this long after the row before it, so that the table shows another time. */
const SHOWN_MS = 1_000;

/**
 * The past as the API answered it and the samples of this page, in the order of time. Where the page did not look
 * between two rows that differ, the first may have lasted for a moment only: nothing is known until the second.
 * @param since when the past begins: of what is older only samples would be known, and nothing of the time between them
 */
export function joined(past: readonly Row[], samples: readonly Row[], step: Step, since = ''): Row[] {
  const ends = new Set(past.filter(({ time }) => isWhole(time, step)));
  const seen = samples.filter(({ time }) => time >= since);
  const byTime = new Map([...seen, ...past].map((row) => [row.time, row]));
  const rows = [...byTime.values()]
    .toSorted((a, b) => (a.time < b.time ? -1 : 1))
    .filter((row, at, all) => ends.has(row) || isNews(row, at, all));
  let lastSeen: Row | undefined;
  return rows.flatMap((row, at) => {
    const before = rows[at - 1];
    if (ends.has(row)) return [row];
    const looked = lastSeen !== undefined && msBetween(lastSeen, row) <= LOOKING_MS;
    lastSeen = row;
    if (looked || before === undefined || msBetween(before, row) <= SHOWN_MS) return [row];
    // Between two equal rows the line is drawn flat, as it is between two equal ends of steps.
    return same(before, row) || isNothing(before) ? [row] : [unseen(before, row, step), row];
  });
}

const isNothing = (row: Row) => PARTS.every((part) => row[part].base === null);

/** Whether to keep a row: of equal rows that the table shows at the same second only the last is kept. */
const isNews = (row: Row, at: number, rows: readonly Row[]): boolean => {
  const next = rows[at + 1];
  if (next === undefined || stamp(next.time) !== stamp(row.time)) return true;
  return !same(row, next) || !sameReasons(row, next);
};

const msBetween = (before: Row, after: Row) => Date.parse(after.time) - Date.parse(before.time);

/** The row to put after one that may have lasted for a moment only, until `next`. */
function unseen({ time }: Row, { time: next }: Row, step: Step): Row {
  const reason = `this page did not look between ${stamp(time)} and ${stamp(next)} UTC, and the API keeps what was at the end of each ${step}`;
  const nothing = { base: null, reason };
  return {
    time: new Date(Date.parse(time) + SHOWN_MS).toISOString(),
    ...{ bankroll: nothing, deployed: nothing, attested: nothing, hwm: nothing },
    asOf: null,
    isUnseen: true,
  };
}

export const equityOf = ({ bankroll, deployed }: Row) => together(bankroll, deployed, 1n);
/** All of the equity that the chain itself shows. */
export const onChainOf = (row: Row) => together(equityOf(row), row.attested, -1n);
export const localOf = ({ deployed, attested }: Row) => together(deployed, attested, -1n);

/**
 * The newest reason why some of the equity or its mark is not known; null where all is known from the first known row
 * on. Rows at which this page did not look do not count: what was known last is drawn on there.
 */
export function unknownOf(rows: readonly Row[]): string | null {
  const first = rows.findIndex((row) => equityOf(row).base !== null);
  const since = rows.slice(Math.max(0, first)).filter((row) => !row.isUnseen);
  const amounts = since.flatMap((row) => [equityOf(row), row.hwm]);
  return amounts.findLast(({ base }) => base === null)?.reason ?? null;
}

const NOT_KNOWN: Amount = { base: null, reason: null };

/** The dotted line: at each unseen row the amount known last, at the row after it the one found; unknown elsewhere. */
export const heldOn = (rows: readonly Row[], of: (row: Row) => Amount): Amount[] =>
  rows.map((row, at) => {
    const [last, before] = [rows[at - 1], rows[at - 2]];
    if (row.isUnseen && last !== undefined) return of(last);
    if (!last?.isUnseen || before === undefined) return NOT_KNOWN;
    return of(row).base === null ? of(before) : of(row);
  });

/** An amount as exact text, in whole tokens where the decimals are known. */
export const cellOf = ({ base, reason }: Amount, decimals: number | null): Cell => ({
  value: base === null ? null : decimals === null ? base.toString() : scaled(base.toString(), decimals),
  reason,
});
