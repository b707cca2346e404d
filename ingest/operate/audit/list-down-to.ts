import { RpcError } from '../../../runtime/rpc/error.ts';
import type { SignatureInfo } from '../../../runtime/rpc/replies.ts';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { HistoryUnavailableError } from '../../history/gap.ts';
import { signaturePages } from '../../history/signature-pages.ts';

export interface ListOptions {
  rpc: Rpc;
  signal: AbortSignal;
  /** The oldest slot that is wanted. */
  downTo: bigint;
  /** About how many signatures are listed at most. */
  most: number;
}

/**
 * What nodes list of an address, newest first; null where that is more than `most`: the oldest is not known then.
 * @throws RpcError, HistoryUnavailableError
 */
export async function listDownTo(
  address: string,
  { rpc, signal, downTo, most }: ListOptions,
): Promise<SignatureInfo[] | null> {
  const listed: SignatureInfo[] = [];
  const pages = signaturePages({ rpc, address, before: null, minContextSlot: 0n, downTo, signal });
  for await (const { signatures, isLast } of pages) {
    listed.push(...signatures);
    const lowest = signatures.at(-1)?.slot ?? downTo;
    if (isLast || lowest < downTo) return listed.filter(({ slot }) => slot >= downTo);
    if (listed.length > most) return null;
  }
  return null;
}

/** A difference is reported whether or not a node tells where it began. */
export function nullIfUnavailable(error: unknown): null {
  if (error instanceof RpcError || error instanceof HistoryUnavailableError) return null;
  throw error;
}
