import type { Store } from '../../client.ts';
import { UNCARRIED } from './carried.ts';
import { firstSlots, type StreamCover } from './stream-cover.ts';

/** The ends of steps that are asked for, in hours since 1970 and equally far apart, as parameters; see `spans`. */
export type StepParams = {
  first_end: number;
  last_end: number;
  /** How many there are. */
  steps: number;
  /** Hours between two of them. */
  each: number;
  /** For each end the first slot that is not before it. They never fall. */
  begins: bigint[];
  /** Each of these slots once; `steps_behind` has for each the first step that begins behind it. */
  places: bigint[];
  steps_behind: number[];
  /** A state that was seen last in a slot below one of these is not known to hold from the step of that one on. */
  leasts: bigint[];
  /** The steps of `leasts`. */
  least_steps: number[];
};

/** Null where the stream has come to none of these moments. The last ones that it has not come to are left out. */
export function stepParams(ends: readonly number[], cover: StreamCover): StepParams | null {
  const { holes } = cover;
  const beginOf = firstSlots(cover);
  const begins = ends.flatMap((end) => beginOf(end) ?? []);
  const first = ends[0];
  if (first === undefined || begins.length === 0) return null;
  const afters = holes.map(({ after_slot }) => BigInt(after_slot));
  const tos = holes.map(({ to_slot }) => BigInt(to_slot));
  const rises: { slot: bigint; step: number }[] = [];
  let least = 0n;
  let passed = 0;
  // Neither `afters` nor `begins` ever falls, so each hole is looked at once, not once for each step.
  for (const [at, begin] of begins.entries()) {
    for (; passed < afters.length && (afters[passed] as bigint) + 1n < begin; passed += 1)
      if ((tos[passed] as bigint) > least) least = tos[passed] as bigint;
    if (least > (rises.at(-1)?.slot ?? 0n)) rises.push({ slot: least, step: at + 1 });
  }
  const behind = new Map(begins.map((begin, at) => [begin, at + 2]));
  return {
    first_end: first,
    last_end: ends[begins.length - 1] as number,
    steps: begins.length,
    each: ends.length < 2 ? 1 : (ends[1] as number) - first,
    begins,
    places: [...behind.keys()],
    steps_behind: [...behind.values()],
    leasts: rises.map(({ slot }) => slot),
    least_steps: rises.map(({ step }) => step),
  };
}

/** The number behind the last step. */
const NEVER = '({steps:UInt32} + 1)';

/** The first step that begins behind a slot, by a search: a lambda over the list would copy it for each row. */
export const stepAfterSlot = (slot: string): string => `
  if(${slot} < {places:Array(UInt64)}[1], 1, toUInt32(transform(roundDown(toUInt64(${slot}), {places:Array(UInt64)}),
    {places:Array(UInt64)}, {steps_behind:Array(UInt32)}, toUInt32(0))))`;

/**
 * Changes that the stream did not bring: a state that was seen last before `to_slot` does not hold from `step` on. The
 * state before the change is still known up to the slot before `safe`, and `step` is the first that begins behind
 * `safe`. Where a change lies in two slots, as one does whose first slot was streamed in part, nothing of the second
 * slot says more. A state that was seen in a slot of `brought` holds: the stream brought it behind the reading that
 * found the change, and it equals what was read. Holes are joined from their table: over the years they are more than a
 * question can carry. Of all that may explain a change the last within it counts, of holes the one that begins last
 * among those that end by then; what begins before the change has no effect. It is found by an ASOF join: a lambda over
 * all holes would copy them for each change.
 */
export const UNSEEN_CHANGES = `
  SELECT c.address AS address, c.to_slot AS to_slot,
    if(c.to_slot = c.after_slot + 2, c.after_slot + 1,
      greatest(c.after_slot + 1, f.slot, h.last_after + 1, w.slot + 1)) AS safe,
    ${stepAfterSlot('safe')} AS step, arraySort(b.slots) AS brought
  FROM (SELECT DISTINCT address, after_slot, to_slot, 1 AS one FROM unseen_changes) AS c
  ASOF LEFT JOIN (SELECT 1 AS one, to_slot, max(after_slot) OVER (ORDER BY to_slot) AS last_after FROM stream_holes) AS h
    ON h.one = c.one AND h.to_slot <= c.to_slot
  ASOF LEFT JOIN (SELECT address, slot FROM first_streamed WHERE address IN (SELECT address FROM unseen_changes)) AS f
    ON f.address = c.address AND f.slot <= c.to_slot
  ASOF LEFT JOIN (SELECT address, slot FROM carried_accounts
    WHERE carried = 0 AND address IN (SELECT address FROM unseen_changes)) AS w ON w.address = c.address AND w.slot < c.to_slot
  LEFT JOIN (SELECT address, to_slot, groupUniqArray(slot) AS slots FROM brought_changes GROUP BY address, to_slot) AS b
    ON b.address = c.address AND b.to_slot = c.to_slot
  WHERE step <= {steps:UInt32}`;

/** Of changes with the same step and `brought` the last stands for all: a state meets one for each step at most. */
const CHANGES_OF_ACCOUNTS = `
  SELECT address, groupArray((last, step, brought)) AS changes
  FROM (SELECT u.address AS address, max(u.to_slot) AS last, u.step AS step, u.brought AS brought FROM (${UNSEEN_CHANGES}) AS u
    GROUP BY address, step, brought)
  GROUP BY address`;

const FIRST_CHANGE = `arrayMin(arrayPushBack(arrayMap(c -> if(s.seen < c.1 AND NOT has(c.3, s.seen), c.2, ${NEVER}), u.changes), ${NEVER}))`;

/**
 * For each loss the first step from which it, or any loss that lasts at least as long, applies: of the losses that last
 * beyond a state, the one that ends first then stands for all.
 */
const LOSSES = `
  SELECT l.address AS address, l.to AS to, min(${stepAfterSlot('(l.after + 1)')}) OVER (PARTITION BY l.address ORDER BY l.to DESC) AS step
  FROM (${UNCARRIED}) AS l`;

/** A state that was read while no stream carried the account holds in the slot of that reading alone. */
const FIRST_UNCARRIED = `if(w.step = 0, ${NEVER}, greatest(w.step, ${stepAfterSlot('(s.seen + 1)')}))`;

/** The first step whose end lies behind an hour. */
export const stepAfterHour = (hour: string): string => `
  toUInt32(if(${hour} < {first_end:UInt32}, 1, least(intDiv(${hour} - {first_end:UInt32}, {each:UInt32}) + 2, ${NEVER})))`;

/** The first step whose end lies behind the moment at which a policy was created. */
export const FIRST_STEP_OF_POLICY = stepAfterHour('intDiv(created_at, 3600)');

const LAST_HOUR = 'toUInt32(4294967295)';

/** What the store has that may keep states from being known: where it has none, no account is looked up for that. */
export interface Lacking {
  /** Changes that the stream did not bring. */
  changes: boolean;
  /** Accounts that no stream brought for a while. */
  uncarried: boolean;
}

export async function lackingIn(store: Store): Promise<Lacking> {
  const [changes, uncarried] = await Promise.all([
    store.query('SELECT 1 FROM unseen_changes LIMIT 1'),
    store.query('SELECT 1 FROM carried_accounts LIMIT 1'),
  ]);
  return { changes: changes.length > 0, uncarried: uncarried.length > 0 };
}

/**
 * The closing states of accounts, each with the steps at which it is the last: from `since` on and before `until`, numbers
 * from 1 on. From the step `lost` on it is not known to hold. The rules are those of a policy's own history.
 * @param addresses a subquery for the accounts' addresses: a condition on the key, checked before the rest of a row.
 * @param which a further condition on the rows.
 */
export const spans = (
  addresses: string,
  columns: readonly string[],
  { changes, uncarried }: Lacking,
  which: string | null = null,
): string => `
  SELECT ${['address', 'block_time', 'exists', ...columns].map((name) => `s.${name} AS ${name}`).join(', ')},
    ${stepAfterHour('s.hour')} AS since, ${stepAfterHour('s.next_hour')} AS until,
    least(${NEVER},
      if(s.seen >= {leasts:Array(UInt64)}[-1], ${NEVER},
        arrayFirst((step, slot) -> s.seen < slot, {least_steps:Array(UInt32)}, {leasts:Array(UInt64)})),
      ${changes ? FIRST_CHANGE : NEVER}, ${uncarried ? FIRST_UNCARRIED : NEVER}) AS lost
  FROM (
    SELECT ${['address', 'block_time', 'exists', 'hour', ...columns].map((name) => `h.${name} AS ${name}`).join(', ')},
      toUInt64(bitShiftRight(h.version, 64)) AS seen,
      leadInFrame(h.hour, 1, ${LAST_HOUR}) OVER (
        PARTITION BY h.address ORDER BY h.hour ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS next_hour
    FROM account_hours AS h FINAL
    PREWHERE h.address IN (${addresses}) AND h.hour < {last_end:UInt32}
    ${which === null ? '' : `WHERE ${which}`}) AS s
  ${changes ? `LEFT JOIN (${CHANGES_OF_ACCOUNTS}) AS u ON u.address = s.address` : ''}
  ${uncarried ? `ASOF LEFT JOIN (${LOSSES}) AS w ON w.address = s.address AND w.to > s.seen` : ''}
  WHERE since < until`;
