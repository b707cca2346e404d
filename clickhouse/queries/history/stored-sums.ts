import { eachYielding } from '../../../runtime/yielding.ts';
import type { Store } from '../../client.ts';
import type { QuoteHourRow } from '../../hour-tables.ts';
import { askInLines, type Question } from '../../question.ts';
import {
  FIRST_STEP_OF_POLICY,
  type StepParams,
  stepAfterHour,
  stepAfterSlot,
  UNSEEN_CHANGES,
} from './spans.ts';

/**
 * What sums are made of beside slots, each part at the first step that it counts at: how often hours were written to,
 * the policies there are, changes that the stream did not bring, and how often it was written that accounts are carried
 * or lost. Hashes are added up, so that no order matters.
 */
const PARTS = `
  SELECT ${stepAfterHour('hour')} AS step, 'written' AS part, toString(sum(written)) AS value FROM hour_writes GROUP BY step
  UNION ALL
  SELECT ${FIRST_STEP_OF_POLICY} AS step, 'policies', toString(sumWithOverflow(reinterpretAsUInt128(sipHash128(address, quote_mint, bankroll))))
  FROM policies FINAL WHERE exists = 1 GROUP BY step
  UNION ALL
  SELECT c.step AS step, 'changes', toString(sumWithOverflow(reinterpretAsUInt128(sipHash128(c.address, c.to_slot, c.safe, c.brought))))
  FROM (${UNSEEN_CHANGES}) AS c GROUP BY c.step
  UNION ALL
  SELECT ${stepAfterSlot('(slot + 1)')} AS step, 'carried', toString(sum(written)) FROM carried_writes GROUP BY step`;

const MOST = 1n << 128n;

/** For each step a text that identifies what its sums are made of: where the text is the same the sums are. */
export async function inputsOfSums(store: Store, params: StepParams): Promise<string[]> {
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

/** Hours of the first question; each further one asks for as many as are so much text, which comes in one piece. */
const FIRST_HOURS = 24;
const CHARS_A_QUESTION = 2_000_000;
/** Text between two turns of the event loop: to read it and to fold it takes some 2 ms. */
const CHARS_AT_ONCE = 200_000;

/**
 * What is stored for each step; null where nothing is that still holds.
 * @param made makes it of the stored sums of a step, JSON. They may be many: other work has its turns between them.
 */
export async function storedSums<Made>(
  store: Store,
  params: StepParams,
  made: (sums: string) => Made,
): Promise<(Made | null)[]> {
  const { first_end, each, begins } = params;
  const ends = begins.map((_, at) => first_end + at * each);
  const madeFrom = await inputsOfSums(store, params);
  const kept: (Made | null)[] = ends.map(() => null);
  let chars = 0;
  const put = ({ hour, made_of, sums }: KeptRow) => {
    const at = (hour - first_end) / each;
    if (made_of === madeFrom[at]) kept[at] = made(sums);
    chars += sums.length;
  };
  for (let [at, hours] = [0, FIRST_HOURS]; at < ends.length; ) {
    const rows = await askInLines(store, keptHours(ends.slice(at, at + hours)));
    await eachYielding(rows, put, CHARS_AT_ONCE, ({ sums }) => sums.length);
    at += hours;
    hours = Math.ceil((at * CHARS_A_QUESTION) / Math.max(chars, 1));
  }
  return kept;
}

type KeptRow = Pick<QuoteHourRow, 'hour' | 'made_of' | 'sums'>;

const keptHours = (hours: readonly number[]): Question<KeptRow> => ({
  sql: 'SELECT hour, made_of, sums FROM quote_hours FINAL WHERE hour IN {hours:Array(UInt32)}',
  params: { hours },
});
