import { NotMadeError, RpcError } from './error.ts';
import type { MadePlace } from './port.ts';

type TimeOf = (slot: bigint) => Promise<number | null>;

/** Slots in a row that a chain has no block of; who begins again from a snapshot jumps over hundreds. */
const MOST_SKIPPED = 16n;

/**
 * Whether a node made the block of a slot, or those on both sides of it: it knows no time of what it jumped over, and
 * has neither its transactions nor a list of them, though its first block is older.
 * @throws NotMadeError where it may have jumped over the slot
 */
export async function mustHaveMade(slot: bigint, timeOf: TimeOf): Promise<void> {
  // Before the first slot of a chain there is nothing to jump over.
  const isMade = async (at: bigint) => at < 0n || (await timeOf(at)) !== null;
  const isMadeBeside = async (step: bigint) => {
    for (let far = 1n; far <= MOST_SKIPPED; far += 1n) if (await isMade(slot + far * step)) return true;
    return false;
  };
  if ((await isMade(slot)) || ((await isMadeBeside(-1n)) && (await isMadeBeside(1n)))) return;
  throw new NotMadeError(slot);
}

/**
 * Likewise, of several; a node that tells no times, or none as old, is taken at its word.
 * @param tip the last slot of all that it has made for good
 * @throws RpcError, NotMadeError where it may have jumped over one of them
 */
export async function mustHaveMadeAll(
  places: readonly MadePlace[],
  timeOf: TimeOf,
  tip: () => Promise<bigint>,
): Promise<void> {
  const toldOf: TimeOf = (slot) => timeOf(slot).catch(nullWhereRefused);
  for (const { slot, beside } of places) {
    if ((await toldOf(slot)) !== null) continue;
    if ((await toldOf(beside ?? (await tip()))) !== null) await mustHaveMade(slot, toldOf);
  }
}

function nullWhereRefused(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'refused') return null;
  throw error;
}
