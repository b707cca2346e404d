import { encodeBase58 } from '../../schemas/solana/base58.ts';
import type { TypedEvent } from '../program/state/events.ts';
import type { Key } from '../program/state/state.ts';
import type { Block } from './ledger.ts';
import { writableKeys } from './transactions.ts';

/** What an oracle needs of a transaction; signature and keys base58. */
export interface ChainTransactionFacts {
  signature: string;
  index: number;
  failed: string | null;
  /** How its logs were cut: for the stream only, or for good. */
  truncated: 'no' | 'stream' | 'always';
  /** Whether an instruction of the program is in it, failed or not. */
  ours: boolean;
  /** In execution order; the position of an event is its place in this list. */
  events: TypedEvent[];
  writablePolicies: Key[];
  /** Writable accounts of a transaction of other programs only: their states are sent again, under its signature. */
  mentioned: Key[];
}

export interface HistoryBlock {
  slot: bigint;
  /** Unix seconds. */
  blockTime: number;
  transactions: ChainTransactionFacts[];
}

const CUT = 'Log truncated';

/**
 * Gives the facts of all blocks from the first on. Those of a block are made once and kept, since an oracle asks often.
 * @param blocks all blocks without the first `skipped`
 */
export function createHistory(blocks: (skipped: number) => Iterable<Block>): () => readonly HistoryBlock[] {
  const made: HistoryBlock[] = [];
  return () => {
    for (const block of blocks(made.length)) made.push(factsOf(block));
    return made;
  };
}

const factsOf = ({ slot, blockTime, transactions }: Block): HistoryBlock => ({
  slot,
  blockTime,
  transactions: transactions.map((tx) => ({
    signature: encodeBase58(tx.signature),
    index: tx.index,
    failed: tx.failed,
    truncated: tx.logs.includes(CUT) ? 'always' : tx.streamLogs.includes(CUT) ? 'stream' : 'no',
    ours: tx.ours,
    events: tx.events,
    writablePolicies: tx.writablePolicies,
    mentioned: tx.ours || tx.failed !== null ? [] : writableKeys(tx),
  })),
});
