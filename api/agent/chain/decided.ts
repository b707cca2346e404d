import type { Queries, Transaction } from '../../postgres/port.ts';
import { agentOf, type LivePolicy } from './chain.ts';

/** A newer reading of the chain has decided for this policy meanwhile: this one decides nothing. */
export class OlderReadingError extends Error {
  override name = 'OlderReadingError';
  /** Slot of the newer one. */
  readonly slot: bigint;

  constructor(slot: bigint) {
    super(`a reading of slot ${slot} has decided already`);
    this.slot = slot;
  }
}

/** The slot of the newest reading that is known of the policy, whether it decided or showed the same; 0 where none is. */
export async function knownSlot(db: Queries, mint: string): Promise<bigint> {
  const [row] = await db.query<{ slot: string }>(
    'SELECT greatest(slot, shown)::text AS slot FROM decided_reads WHERE mint = $1',
    [mint],
  );
  return BigInt(row?.slot ?? 0);
}

/**
 * Whether a reading shows the agent of the newest that decided. It has nothing to decide then, and those that show that
 * agent go on deciding; of those that show another no older one does.
 */
export async function showsTheSame(db: Queries, policy: LivePolicy): Promise<boolean> {
  const rows = await db.query(
    'UPDATE decided_reads SET shown = greatest(shown, $2::text::bigint) WHERE mint = $1 AND agent = $3 RETURNING 1',
    [policy.mint, policy.slot.toString(), agentOf(policy) ?? ''],
  );
  return rows.length > 0;
}

/**
 * Lets a reading decide, in the transaction that writes by it: no older one does after that, in any process, and
 * sessions of keys that are not the agent's are over for good.
 * @throws OlderReadingError
 */
export async function decideBy(tx: Transaction, policy: LivePolicy): Promise<void> {
  const agent = agentOf(policy) ?? '';
  const decided = await tx.query(
    `INSERT INTO decided_reads AS d (mint, slot, shown, agent) VALUES ($1, $2::text::bigint, $2::text::bigint, $3)
     ON CONFLICT (mint) DO UPDATE
     SET slot = excluded.slot, shown = greatest(d.shown, excluded.shown), agent = excluded.agent
     WHERE excluded.slot >= CASE WHEN d.agent = excluded.agent THEN d.slot ELSE greatest(d.slot, d.shown) END
     RETURNING 1`,
    [policy.mint, policy.slot.toString(), agent],
  );
  if (decided.length === 0) throw new OlderReadingError(await knownSlot(tx, policy.mint));
  await tx.query(
    'UPDATE sessions SET rotated_out = true WHERE mint = $1 AND agent <> $2 AND NOT rotated_out',
    [policy.mint, agent],
  );
}
