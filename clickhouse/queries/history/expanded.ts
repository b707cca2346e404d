import { firstSlots, type StreamCover } from './stream-cover.ts';

/** The ends of steps that are asked for, in hours since 1970 and equally far apart, as parameters; see `expanded`. */
export type StepParams = {
  ends: number[];
  /** Of each: the first slot that is not before it. */
  begins: bigint[];
  /** Of each: a state that was seen last in a lower slot is not known to hold. */
  leasts: bigint[];
  /** Hours between two of them. */
  each: number;
  hole_afters: bigint[];
  hole_tos: bigint[];
};

export function stepParams(ends: readonly number[], cover: StreamCover): StepParams {
  const { holes } = cover;
  const begins = firstSlots(cover);
  const first = ends.map((end) => begins(end) ?? 0n);
  const least = (begin: bigint) =>
    holes
      .filter(({ after_slot }) => BigInt(after_slot) + 1n < begin)
      .reduce((most, { to_slot }) => (BigInt(to_slot) > most ? BigInt(to_slot) : most), 0n);
  return {
    ends: [...ends],
    begins: first,
    leasts: first.map(least),
    each: ends.length < 2 ? 1 : (ends[1] as number) - (ends[0] as number),
    hole_afters: holes.map(({ after_slot }) => BigInt(after_slot)),
    hole_tos: holes.map(({ to_slot }) => BigInt(to_slot)),
  };
}

/** Changes that the stream did not bring, and up to which slot what was before them is known all the same. */
const CHANGES = `
  SELECT u.address AS address, groupArray((u.safe, u.to_slot)) AS changes FROM (
    SELECT c.address AS address, c.to_slot AS to_slot,
      greatest(c.after_slot + 1, maxIf(f.slot, f.slot > c.after_slot AND f.slot <= c.to_slot), arrayMax(arrayConcat([toUInt64(0)],
        arrayMap((after, to) -> if(after >= c.after_slot AND to <= c.to_slot, after + 1, 0),
          {hole_afters:Array(UInt64)}, {hole_tos:Array(UInt64)})))) AS safe
    FROM (SELECT DISTINCT address, after_slot, to_slot FROM unseen_changes) AS c
    LEFT JOIN (SELECT address, slot FROM first_streamed WHERE address IN (SELECT address FROM unseen_changes)) AS f
      ON f.address = c.address
    GROUP BY c.address, c.after_slot, c.to_slot) AS u
  GROUP BY u.address`;

/** Numbers of the steps whose ends lie behind one hour and not behind another: as many as there are, without a look at each. */
const STEPS_BETWEEN = (after: string, until: string) => `
  range(if(${after} < {ends:Array(UInt32)}[1], 1, intDiv(${after} - {ends:Array(UInt32)}[1], {each:UInt32}) + 2),
    if(${until} < {ends:Array(UInt32)}[1], 1,
      least(length({ends:Array(UInt32)}), intDiv(${until} - {ends:Array(UInt32)}[1], {each:UInt32}) + 1) + 1))`;

/**
 * The state of each account at each step that it has one of: a row with the step's number from 1 on, and whether the
 * state is lost, so that it is not known. The rules are those of a policy's own history.
 * @param addresses a question for those of the accounts: what is of the key alone is looked at before anything else of a row.
 * @param which a condition on the rows beside that.
 */
export const expanded = (
  addresses: string,
  columns: readonly string[],
  which: string | null = null,
): string => `
  SELECT ${['address', 'block_time', 'exists', ...columns].map((name) => `s.${name} AS ${name}`).join(', ')}, step,
    bitShiftRight(s.version, 64) < {leasts:Array(UInt64)}[step]
      OR arrayExists(c -> bitShiftRight(s.version, 64) < c.2 AND c.1 < {begins:Array(UInt64)}[step], u.changes) AS lost
  FROM (
    SELECT h.*, leadInFrame(h.hour, 1, toUInt32(4294967295)) OVER (
      PARTITION BY h.address ORDER BY h.hour ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS next_hour
    FROM (
      SELECT * FROM account_hours AS h FINAL
      PREWHERE h.address IN (${addresses}) AND h.hour < {ends:Array(UInt32)}[-1]
      ${which === null ? '' : `WHERE ${which}`}
      ORDER BY h.address, h.hour DESC LIMIT 1 BY h.address, greatest(h.hour + 1, {ends:Array(UInt32)}[1])) AS h) AS s
  LEFT JOIN (${CHANGES}) AS u ON u.address = s.address
  ARRAY JOIN ${STEPS_BETWEEN('s.hour', 's.next_hour')} AS step`;
