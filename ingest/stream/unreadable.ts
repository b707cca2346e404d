import type { LogRecord } from '../../schemas/records.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { legibility } from '../../schemas/transaction/legibility.ts';
import type { GapCloser } from '../history/gap-closer.ts';
import { type CutLogsReader, mayBeCut } from './cut-logs.ts';
import type { Sweeper } from './following/sweep.ts';
import type { TransactionUpdate, Update } from './geyser/update.ts';

export interface UnreadableOptions {
  gaps: GapCloser;
  sweeper: Pick<Sweeper, 'request'>;
  reread: Pick<CutLogsReader, 'add'>;
  send(records: readonly LogRecord[]): Promise<void>;
  warn(what: { slot: string; signature?: string }, sentence: string): void;
}

/** What becomes of what the stream brought and nobody can read: it is read over RPC, and missing until then. */
export interface Unreadable {
  /** To be called before the transaction's slot is told to be whole. */
  transaction(update: TransactionUpdate, blockTime: number | null): void;
  update(update: Extract<Update, { type: 'unreadable' }>): void;
}

export function createUnreadable({ gaps, sweeper, reread, send, warn }: UnreadableOptions): Unreadable {
  /** Nobody knows whom it is about: nothing that the slot may have changed counts as known. */
  const openSlot = (slot: bigint, toTime: number | null) => {
    if (gaps.knows(slot)) return;
    const gap = { fromSlot: slot, toSlot: slot, toTime };
    gaps.add(gap, send([{ kind: 'gap', ...gap, closed: false }]));
  };
  return {
    transaction: (update, blockTime) => {
      const { slot, payload } = update;
      const legible = legibility({ format: 'geyser', payload });
      if (legible !== 'whole' || mayBeCut(payload)) reread.add(update, blockTime);
      if (legible === 'whole') return;
      const signature = encodeBase58(update.signature);
      warn({ slot: slot.toString(), signature }, 'a transaction of the stream cannot be read');
      if (legible === 'none') openSlot(slot, blockTime);
    },
    update: ({ slot, of }) => {
      warn({ slot: slot.toString() }, `an update of the stream, of an ${of}, cannot be read`);
      if (of === 'account') sweeper.request(slot);
      else openSlot(slot, null);
    },
  };
}
