import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { type Gap, HistoryUnavailableError, NotSettledError, PrunedError } from './gap.ts';
import { signaturePages } from './signature-pages.ts';

/** The address index of a node is written after its slots are visible: so far behind a gap it holds all of it. */
export const SETTLED_AFTER = 32n;

export interface TopOptions {
  rpc: Rpc;
  programId: string;
  signal: AbortSignal;
}

/** The slot at or behind which a node's list of the gap counts. @throws RpcError, NotSettledError */
export async function settledSlot(gap: Gap, rpc: Rpc): Promise<bigint> {
  const least = gap.toSlot + SETTLED_AFTER;
  const tip = await rpc.getSlot();
  if (tip >= least) return least;
  throw new NotSettledError(`the node is at slot ${tip}, not ${SETTLED_AFTER} slots past ${gap.toSlot}`);
}

/**
 * Lists the top of a gap again, of what is final: what is in one list alone proves that the index of a node was not
 * whole. @param listed the first signatures of the gap, newest first
 * @returns the lowest place above the gap that is final; null where none is
 * @throws RpcError, HistoryUnavailableError
 */
export async function proveTop(
  gap: Gap,
  listed: readonly SignatureInfo[],
  whole: boolean,
  { rpc, programId, signal }: TopOptions,
): Promise<string | null> {
  const lowest = whole ? gap.fromSlot : (listed.at(-1)?.slot ?? gap.fromSlot);
  const first = new Set(listed.map(({ signature }) => signature));
  const found = new Set<string>();
  const { before = null } = gap;
  let above: string | null = null;
  const pages = signaturePages({
    ...{ rpc, address: programId, before, minContextSlot: gap.toSlot, downTo: lowest, signal },
    // A place is final itself, and what is final may be listed less far back: below one the second list is as the first.
    ...(before === null ? { commitment: 'finalized' as const } : {}),
  });
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
    // How far back it reaches is the first list's to prove.
    if (!(error instanceof PrunedError)) throw error;
  }
  const missing = listed.find(({ signature }) => !found.has(signature));
  if (missing !== undefined)
    throw new HistoryUnavailableError(`the list of what is final lacks ${missing.signature}`);
  return above;
}
