import { RpcError } from '../../runtime/rpc/error.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';

/**
 * Unix seconds of a slot as the nodes tell it; null where they know none, or refuse to tell: what was read is true
 * without it, and may be dated later. @throws RpcError where none answers
 */
export async function blockTimeOrNull(rpc: Pick<Rpc, 'getBlockTime'>, slot: bigint): Promise<number | null> {
  try {
    return await rpc.getBlockTime(slot);
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return null;
    throw error;
  }
}
