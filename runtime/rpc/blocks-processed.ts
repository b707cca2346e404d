import { RpcError } from './error.ts';

/** The most slots in a row without a block on a chain; a node that begins again from a snapshot jumps over hundreds. */
const MOST_SKIPPED = 16n;

/**
 * Checks that a node has processed the block of a slot, or blocks on both sides of it. Of slots that it jumped over a
 * node knows no block time, and has neither transactions nor signatures, though its first block is older.
 * @throws RpcError where it may have jumped over the slot
 */
export async function mustHaveProcessed(
  slot: bigint,
  timeOf: (slot: bigint) => Promise<number | null>,
): Promise<void> {
  const isProcessed = async (at: bigint) => at >= 0n && (await timeOf(at)) !== null;
  const isProcessedBeside = async (step: bigint) => {
    for (let far = 1n; far <= MOST_SKIPPED; far += 1n) if (await isProcessed(slot + far * step)) return true;
    return false;
  };
  if ((await isProcessed(slot)) || ((await isProcessedBeside(-1n)) && (await isProcessedBeside(1n)))) return;
  throw new RpcError('refused', `it tells no time of a block about slot ${slot}`, { retryOn: 'anotherNode' });
}
