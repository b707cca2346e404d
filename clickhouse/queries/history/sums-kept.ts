import type { Store } from '../../client.ts';
import type { QuoteHourRow } from '../../hour-tables.ts';
import type { QuoteSumsAt } from './quote-sums.ts';
import { BEGUN, CHANGES, type StepParams, stepAfter, stepBehind } from './spans.ts';

/**
 * What sums are made of beside slots, each part at the first step that it counts at: how often hours were written to, and
 * from when on accounts are carried, the policies there are, and changes that the stream did not bring. Hashes are added
 * up, so that no order matters.
 */
const PARTS = `
  SELECT ${stepBehind('hour')} AS step, 'written' AS part, toString(sum(written)) AS value FROM hour_writes GROUP BY step
  UNION ALL
  SELECT ${BEGUN} AS step, 'policies', toString(sumWithOverflow(reinterpretAsUInt128(sipHash128(address, quote_mint, bankroll))))
  FROM policies FINAL WHERE exists = 1 GROUP BY step
  UNION ALL
  SELECT c.step AS step, 'changes', toString(sumWithOverflow(reinterpretAsUInt128(sipHash128(c.address, c.to_slot, c.safe, c.brought))))
  FROM (${CHANGES}) AS c GROUP BY c.step
  UNION ALL
  SELECT ${stepAfter('(slot + 1)')} AS step, 'carried', toString(sum(written)) FROM carried_writes GROUP BY step`;

const MOST = 1n << 128n;

/** Of each step what its sums are made of: two that are the same have the same sums. */
export async function madeOf(store: Store, params: StepParams): Promise<string[]> {
  const parts = await store.query<{ step: number; part: string; value: string }>(PARTS, params);
  const sums = new Map<string, bigint>();
  const byStep = Map.groupBy(parts, ({ step }) => step);
  return params.begins.map((begin, at) => {
    const step = at + 1;
    for (const { part, value } of byStep.get(step) ?? [])
      sums.set(part, ((sums.get(part) ?? 0n) + BigInt(value)) % MOST);
    const least = params.leasts[params.least_steps.findLastIndex((from) => from <= step)] ?? 0n;
    const beside = ['written', 'policies', 'changes', 'carried'].map((part) => sums.get(part) ?? 0n);
    return [begin, least, ...beside].join(' ');
  });
}

/** What is kept of the steps, by step; null where nothing is that still holds. */
export async function sumsKept(store: Store, params: StepParams): Promise<(QuoteSumsAt[] | null)[]> {
  const { first_end, each, begins } = params;
  const ends = begins.map((_, at) => first_end + at * each);
  const [made, rows] = await Promise.all([
    madeOf(store, params),
    store.query<Pick<QuoteHourRow, 'hour' | 'made_of' | 'sums'>>(
      'SELECT hour, made_of, sums FROM quote_hours FINAL WHERE hour IN {ends:Array(UInt32)}',
      { ends },
    ),
  ]);
  const byHour = new Map(rows.map((row) => [row.hour, row]));
  return ends.map((end, at) => {
    const row = byHour.get(end);
    if (row === undefined || row.made_of !== made[at]) return null;
    return (JSON.parse(row.sums) as QuoteSumsAt[]).map((sums) => ({ ...sums, step: at + 1 }));
  });
}
