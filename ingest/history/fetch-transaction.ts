import { pause } from '../../runtime/process/lifecycle.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { MOST_APART_S } from '../../runtime/rpc/same-chain.ts';
import type { TransactionRecord } from '../../schemas/records.ts';
import { decodeBase58 } from '../../schemas/solana/base58.ts';
import { blockIndexOf } from '../../schemas/solana/block-index.ts';
import { blockTimeOf } from '../../schemas/solana/block-time.ts';
import { legibility } from '../../schemas/transaction/legibility.ts';
import { HistoryUnavailableError } from './gap.ts';

/** Over some seconds: a node that lists a transaction may have it a moment later. */
const TRIES = 6;

/**
 * One transaction over RPC as a record of the log.
 * @param order its place in its slot among those of the program, where no index is known.
 * @param knownIndex its index in the block where the stream told it.
 * @throws RpcError, HistoryUnavailableError where the node does not have it yet, or not all of it.
 */
export async function fetchTransaction(
  rpc: Pick<Rpc, 'getTransaction'>,
  info: Pick<SignatureInfo, 'signature' | 'slot' | 'blockTime'>,
  order: number,
  knownIndex: number | null,
): Promise<TransactionRecord> {
  const result = await rpc.getTransaction(info.signature, { inSlot: info.slot });
  if (result === null) throw new HistoryUnavailableError(`the node has no transaction ${info.signature}`);
  const { blockTime, transactionIndex, meta, transaction, slot } = result;
  if (!isObject(meta) || !isObject(transaction))
    throw new HistoryUnavailableError(`the node returned an incomplete transaction ${info.signature}`);
  // A cache may hand out another transaction, and an index may name a slot that it was in on a fork.
  const { signatures } = transaction;
  const isIt = Array.isArray(signatures) && signatures[0] === info.signature;
  if (!isIt || (slot !== undefined && slot !== Number(info.slot)))
    throw new HistoryUnavailableError(
      `the node returned another transaction for ${info.signature} in slot ${info.slot}`,
    );
  const record: TransactionRecord = {
    kind: 'transaction',
    source: 'rpc',
    slot: info.slot,
    blockTime: agreed(blockTimeOf(blockTime), info.blockTime),
    signature: decodeBase58(info.signature) as Uint8Array,
    index: knownIndex ?? blockIndexOf(transactionIndex),
    order,
    format: 'json',
    payload: Buffer.from(JSON.stringify(result)),
  };
  // The accounts that it names have to be known: nothing could say whose figures lack it, once it is in the log.
  if (legibility(record) === 'none')
    throw new HistoryUnavailableError(`the node's reply for transaction ${info.signature} cannot be read`);
  return record;
}

/**
 * Likewise, tried for some seconds; null where the node answers and this transaction alone cannot be read.
 * @throws RpcError where the node does not answer.
 */
export async function fetchListed(
  rpc: Rpc,
  info: SignatureInfo,
  order: number,
  signal: AbortSignal,
): Promise<TransactionRecord | null> {
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    try {
      return await fetchTransaction(rpc, info, order, null);
    } catch {
      if (attempt === TRIES) break;
      await pause(backoffMs(attempt - 1), signal);
    }
  }
  await rpc.getSlot();
  return null;
}

/**
 * The transaction's own time where the list's is no more than MOST_APART_S off, or the only one of both; null where
 * they differ by more, for one of them is wrong.
 */
function agreed(own: number | null, listed: number | null): number | null {
  if (own === null || listed === null) return own ?? listed;
  return Math.abs(own - listed) > MOST_APART_S ? null : own;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
