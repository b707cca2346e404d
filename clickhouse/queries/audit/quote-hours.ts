import type { Store } from '../../client.ts';
import { madeSums } from '../history/protocol.ts';
import type { QuoteSumsAt } from '../history/quote-sums.ts';
import { stepParams } from '../history/spans.ts';
import { storedSums } from '../history/stored-sums.ts';
import { streamCover } from '../history/stream-cover.ts';

/** All hours of which sums are kept, oldest first. */
export async function keptHours(store: Store): Promise<number[]> {
  const rows = await store.query<{ hour: number }>('SELECT DISTINCT hour FROM quote_hours ORDER BY hour');
  return rows.map(({ hour }) => hour);
}

/** An hour whose sums are said to hold and are not those of its states. */
export interface DifferingSums {
  hour: number;
  kept: string;
  made: string;
}

/** @param hours in order: all hours from the first to the last of them are compared. */
export async function differingSums(
  store: Store,
  hours: readonly number[],
): Promise<{ compared: number; differences: DifferingSums[] }> {
  const [first = 0, last = 0] = [hours[0], hours.at(-1)];
  const ends = Array.from({ length: last - first + 1 }, (_, at) => first + at);
  const params = stepParams(ends, await streamCover(store, first, last));
  if (params === null) return { compared: 0, differences: [] };
  const made = await madeSums(store, params);
  const holding = await storedSums(store, params, (sums) => JSON.parse(sums) as QuoteSumsAt[]);
  const differences = holding.flatMap((kept, at) => {
    const those = JSON.stringify(made.filter(({ step }) => step === at + 1).map(withoutStep));
    const these = kept === null ? those : JSON.stringify(kept.map(withoutStep));
    return these === those ? [] : [{ hour: ends[at] as number, kept: these, made: those }];
  });
  return { compared: holding.filter((kept) => kept !== null).length, differences };
}

const withoutStep = <T extends { step: number }>({ step: _, ...sums }: T): Omit<T, 'step'> => sums;
