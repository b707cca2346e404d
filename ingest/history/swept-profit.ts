/** A policy's mark and what it had swept, at the end of a slot. */
export interface Mark {
  slot: bigint;
  hwm: bigint;
  profitSwept: bigint;
}

/** The legs of a sweep, and the whole profit that they are shares of. */
export interface Legs {
  toLp: bigint;
  toHolders: bigint;
}

export interface SweepScene {
  before: Mark;
  after: Mark;
  /** The sweep whose profit is not known. */
  sweep: Legs;
  /** Every other one of the policy between the two marks. */
  others: readonly (Legs & { profit: bigint })[];
}

/**
 * The profit of a sweep by the states around it: profit is equity above the mark, the new mark is equity less what is
 * moved, and what is moved is added to what was swept. So the sum of mark and swept rises by the profit, and by nothing
 * else. Null where the sweeps between them do not lead from the one state to the other.
 */
export function profitOf({ before, after, sweep, others }: SweepScene): bigint | null {
  const known = others.reduce((sum, { profit }) => sum + profit, 0n);
  const moved = [sweep, ...others].reduce((sum, { toLp, toHolders }) => sum + toLp + toHolders, 0n);
  if (after.profitSwept - before.profitSwept !== moved || after.hwm < before.hwm) return null;
  const profit = after.hwm - before.hwm + moved - known;
  return profit > 0n && profit >= sweep.toLp + sweep.toHolders ? profit : null;
}
