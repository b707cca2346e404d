import type { Queries, Transaction } from '../../postgres/port.ts';
import { agentOf, type LivePolicy } from './chain.ts';

/** A newer reading of the chain has decided for this policy in the meantime, so this one must not. */
export class OlderReadingError extends Error {
  override name = 'OlderReadingError';
  /** Slot of the newer reading. */
  readonly slot: bigint;

  constructor(slot: bigint) {
    super(`a reading of slot ${slot} has decided already`);
    this.slot = slot;
  }
}

/**
 * SQL of a stored slot; 0 where it is higher than the chain can have reached, as a wrong answer of a node leaves one.
 */
const ofChain = (column: string, most: `$${number}`) =>
  `CASE WHEN ${column} <= ${most}::text::bigint THEN ${column} ELSE 0 END`;
const NO_BOUND = (1n << 63n) - 1n;
const mostOf = ({ mostSlot }: Pick<LivePolicy, 'mostSlot'>) => (mostSlot ?? NO_BOUND).toString();

/**
 * The slot of the newest known reading of the policy, whether it decided or only showed the same agent; 0 without one.
 * @param mostSlot the highest slot that the chain can have reached, where known: a stored slot above it is ignored.
 */
export async function knownSlot(db: Queries, mint: string, mostSlot: bigint | null = null): Promise<bigint> {
  const [row] = await db.query<{ slot: string }>(
    `SELECT greatest(${ofChain('slot', '$2')}, ${ofChain('shown', '$2')})::text AS slot
     FROM decided_reads WHERE mint = $1`,
    [mint, mostOf({ mostSlot })],
  );
  return BigInt(row?.slot ?? 0);
}

/**
 * Whether a reading shows the same agent as the newest reading that decided. Then it need not decide, and its slot is
 * kept as `shown`: an older reading of the same agent may still decide, an older one of another agent may not.
 */
export async function confirmsKnownAgent(db: Queries, policy: LivePolicy): Promise<boolean> {
  const rows = await db.query(
    `UPDATE decided_reads SET shown = greatest(${ofChain('shown', '$4')}, $2::text::bigint)
     WHERE mint = $1 AND agent = $3 AND slot <= $4::text::bigint RETURNING 1`,
    [policy.mint, policy.slot.toString(), agentOf(policy) ?? '', mostOf(policy)],
  );
  return rows.length > 0;
}

/**
 * Lets a reading decide, in the transaction whose writes rely on it. After that no older reading decides, in any
 * process, and sessions of keys other than the agent's are over for good.
 * @throws OlderReadingError
 */
export async function recordDecidingReading(tx: Transaction, policy: LivePolicy): Promise<void> {
  const agent = agentOf(policy) ?? '';
  const decided = await tx.query(
    `INSERT INTO decided_reads AS d (mint, slot, shown, agent) VALUES ($1, $2::text::bigint, $2::text::bigint, $3)
     ON CONFLICT (mint) DO UPDATE
     SET slot = excluded.slot, shown = greatest(${ofChain('d.shown', '$4')}, excluded.shown), agent = excluded.agent
     WHERE excluded.slot >= greatest(
       ${ofChain('d.slot', '$4')},
       CASE WHEN d.agent = excluded.agent THEN 0 ELSE ${ofChain('d.shown', '$4')} END)
     RETURNING 1`,
    [policy.mint, policy.slot.toString(), agent, mostOf(policy)],
  );
  if (decided.length === 0) throw new OlderReadingError(await knownSlot(tx, policy.mint, policy.mostSlot));
  await tx.query(
    'UPDATE sessions SET rotated_out = true WHERE mint = $1 AND agent <> $2 AND NOT rotated_out',
    [policy.mint, agent],
  );
}
