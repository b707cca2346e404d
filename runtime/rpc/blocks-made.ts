import { RpcError } from './error.ts';

/** Slots in a row that a chain has no block of; who begins again from a snapshot jumps over hundreds. */
const MOST_SKIPPED = 16n;

/**
 * Whether a node made the block of a slot, or those on both sides of it: it knows no time of what it jumped over, and
 * has neither its transactions nor a list of them, though its first block is older.
 * @throws RpcError where it may have jumped over the slot
 */
export async function mustHaveMade(
  slot: bigint,
  timeOf: (slot: bigint) => Promise<number | null>,
): Promise<void> {
  const isMade = async (at: bigint) => at >= 0n && (await timeOf(at)) !== null;
  const isMadeBeside = async (step: bigint) => {
    for (let far = 1n; far <= MOST_SKIPPED; far += 1n) if (await isMade(slot + far * step)) return true;
    return false;
  };
  if ((await isMade(slot)) || ((await isMadeBeside(-1n)) && (await isMadeBeside(1n)))) return;
  throw new RpcError('refused', `it tells no time of a block about slot ${slot}`, { again: 'elsewhere' });
}
