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

/** The slot of the newest reading that decided for the policy; 0 where none did. */
export async function decidedSlot(db: Queries, mint: string): Promise<bigint> {
  const [row] = await db.query<{ slot: string }>(
    'SELECT slot::text AS slot FROM decided_reads WHERE mint = $1',
    [mint],
  );
  return BigInt(row?.slot ?? 0);
}

/**
 * Lets a reading decide, in the transaction that writes by it: no older one does after that, in any process, and
 * sessions of keys that are not the agent's are over for good.
 * @throws OlderReadingError
 */
export async function decideBy(tx: Transaction, policy: LivePolicy): Promise<void> {
  const [row] = await tx.query<{ slot: string }>(
    `INSERT INTO decided_reads AS d (mint, slot) VALUES ($1, $2::text::bigint)
     ON CONFLICT (mint) DO UPDATE SET slot = greatest(d.slot, excluded.slot) RETURNING slot::text AS slot`,
    [policy.mint, policy.slot.toString()],
  );
  const newest = BigInt(row?.slot ?? 0);
  if (newest > policy.slot) throw new OlderReadingError(newest);
  await tx.query(
    'UPDATE sessions SET rotated_out = true WHERE mint = $1 AND agent <> $2 AND NOT rotated_out',
    [policy.mint, agentOf(policy) ?? ''],
  );
}

/** Whether somebody is signed in who, by this reading, is not the agent. */
export async function hasFormerSessions(db: Queries, policy: LivePolicy): Promise<boolean> {
  const rows = await db.query(
    'SELECT 1 FROM sessions WHERE mint = $1 AND agent <> $2 AND NOT rotated_out LIMIT 1',
    [policy.mint, agentOf(policy) ?? ''],
  );
  return rows.length > 0;
}
