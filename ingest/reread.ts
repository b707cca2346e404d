import type { Logger } from '../runtime/log.ts';
import type { Rpc } from '../runtime/rpc.ts';
import { encodeBase58 } from '../schemas/base58.ts';
import type { LogRecord } from '../schemas/records.ts';
import type { TransactionUpdate } from './geyser/update.ts';
import { readTransaction } from './history.ts';
import { untilDone } from './retry.ts';

const CUT = Buffer.from('Log truncated');

/** Whether the logs in a transaction's bytes may have been cut; looks without decoding. */
export function mayBeCut(payload: Uint8Array): boolean {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).includes(CUT);
}

export interface Reread {
  add(update: TransactionUpdate, blockTime: number | null): void;
  addKnown(transaction: { signature: string; slot: bigint; blockTime: number | null }): void;
}

export interface RereadOptions {
  rpc: Rpc;
  send(records: readonly LogRecord[]): Promise<void>;
  logger: Logger;
  signal: AbortSignal;
}

/** Reads transactions with cut logs again over RPC, whose logs may be whole, one after the other. */
export function createReread(options: RereadOptions): Reread {
  let chain: Promise<void> = Promise.resolve();
  const queue = (
    info: { signature: string; slot: bigint; blockTime: number | null },
    index: number | null,
  ) => {
    chain = chain.then(async () => {
      const read = () => readTransaction(options.rpc, info, 0, index);
      const record = await untilDone('reading a transaction with cut logs again', read, options);
      if (record !== null) await options.send([record]);
    });
  };
  return {
    add: ({ signature, slot, index }, blockTime) =>
      queue({ signature: encodeBase58(signature), slot, blockTime }, index),
    addKnown: (transaction) => queue(transaction, null),
  };
}
