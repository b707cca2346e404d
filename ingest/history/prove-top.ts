import { RpcError } from '../../runtime/rpc/error.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { type Gap, HistoryUnavailableError, NotSettledError, PrunedError } from './gap.ts';
import { signaturePages } from './signature-pages.ts';

/**
 * A node writes its address index after its slots are visible: once it is so many slots past a gap, the index has all
 * of that. At `confirmed` that is also about as deep as a slot has to lie to be final. A transaction of a fork that is
 * dropped all the same is struck out, and what was missed for it is read, as the comparison with the chain lists these
 * slots anew once they lie deeper.
 */
export const SETTLED_AFTER = 32n;

/**
 * Where the chain stands still at the end of a gap, or nearly so, a node counts that is at the gap's last slot: after
 * so long if its index shows that it is there too, or nothing shows how far it is; after a minute whatever it shows, as
 * it may stay so for ever. What it lists later all the same is read by the comparison with the chain, which comes to
 * these slots only once they lie deep enough.
 */
/** Longer than 32 slots take. */
const STANDS_MS = 15_000;
const UNPROVED_MS = 60_000;

export interface TopOptions {
  rpc: Rpc;
  programId: string;
  signal: AbortSignal;
  /** A node that has not come to this slot is not asked. */
  minContextSlot: bigint;
}

/** For how long a chain has stood at a gap's end. */
export interface Standing {
  ms: number;
  /** Told by each look whether it found a node there. */
  looked(found: boolean): void;
}

export const GOES_ON: Standing = { ms: 0, looked: () => {} };

/**
 * The slot that a node must have come to for its list of the gap to count.
 * @throws RpcError, NotSettledError
 */
export async function settledSlot(gap: Gap, rpc: Rpc, standing: Standing): Promise<bigint> {
  const least = gap.toSlot + SETTLED_AFTER;
  let tip: bigint | null = null;
  try {
    tip = await tipFrom(gap.toSlot, rpc);
  } finally {
    standing.looked(tip !== null);
  }
  if (tip >= least) return least;
  if (standing.ms < STANDS_MS)
    throw new NotSettledError(`the node is at slot ${tip}, not ${SETTLED_AFTER} slots past ${gap.toSlot}`);
  const indexed = standing.ms < UNPROVED_MS ? await newestVote(tip, rpc) : null;
  if (indexed === null || indexed >= gap.toSlot) return tip;
  throw new NotSettledError(
    `the chain stands still, and the node's index is at slot ${indexed}, not at ${gap.toSlot} yet`,
  );
}

/** The slot of a node that has come to this one. Of several, the first may stand below it: another one is asked. */
async function tipFrom(slot: bigint, rpc: Rpc): Promise<bigint> {
  const below = (tip: string) =>
    new NotSettledError(`the node is at ${tip}, not ${SETTLED_AFTER} slots past ${slot}`);
  try {
    const tip = await rpc.getSlot({ minContextSlot: slot });
    if (tip < slot) throw below(`slot ${tip}`);
    return tip;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'behind') throw below(`a slot below ${slot}`);
    throw error;
  }
}

export const VOTE_PROGRAM = 'Vote111111111111111111111111111111111111111';

/**
 * Each block of a cluster has votes, and an index is written in the order of the blocks: the newest tells how far it is.
 * Null where the node lists none, as on a chain for tests: nothing tells it there.
 */
async function newestVote(minContextSlot: bigint, rpc: Rpc): Promise<bigint | null> {
  try {
    const [newest] = await rpc.getSignaturesForAddress(VOTE_PROGRAM, null, 1, { minContextSlot });
    return newest?.slot ?? null;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return null;
    throw error;
  }
}

/**
 * Lists the top of a gap a second time, maybe from another node behind the same address: what only one of both lists
 * has proves that the index of a node was not whole, or that a fork was dropped in between.
 * @param listed the first signatures of the gap, newest first
 * @param whole whether those are all of the gap
 * @returns the lowest signature above the gap; null where there is none
 * @throws RpcError, HistoryUnavailableError
 */
export async function proveTop(
  gap: Gap,
  listed: readonly SignatureInfo[],
  whole: boolean,
  { rpc, programId, signal, minContextSlot }: TopOptions,
): Promise<string | null> {
  const lowest = whole ? gap.fromSlot : (listed.at(-1)?.slot ?? gap.fromSlot);
  const first = new Set(listed.map(({ signature }) => signature));
  const found = new Set<string>();
  const { before = null } = gap;
  let above: string | null = null;
  const pages = signaturePages({ rpc, address: programId, before, minContextSlot, downTo: lowest, signal });
  try {
    for await (const page of pages) {
      for (const { signature, slot } of page.signatures) {
        if (slot > gap.toSlot) above = signature;
        if (slot > gap.toSlot || slot < lowest) continue;
        found.add(signature);
        if (!first.has(signature) && (whole || slot > lowest))
          throw new HistoryUnavailableError(`the first list lacked ${signature} of slot ${slot}`);
      }
      const deepest = page.signatures.at(-1)?.slot;
      if (page.isLast || (deepest !== undefined && deepest < lowest)) break;
    }
  } catch (error) {
    // How far back the nodes reach is for the first list to prove.
    if (!(error instanceof PrunedError)) throw error;
  }
  const missing = listed.find(({ signature }) => !found.has(signature));
  if (missing !== undefined)
    throw new HistoryUnavailableError(`the second list lacks ${missing.signature}, which the first list has`);
  return above;
}
