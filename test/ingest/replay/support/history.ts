import { createChain } from '../../../../devnet/chain/chain.ts';
import { createLife } from '../../../../devnet/life/life.ts';
import type { LogRecord } from '../../../../schemas/records.ts';
import { decodeKey } from '../../../../schemas/solana/base58.ts';
import { recordsOf } from '../../support/ledger-records.ts';

/** A local chain's blocks as a log has them: history opens with a gap from slot 0, and closes it. */
export interface History {
  programId: Uint8Array;
  /** Opens the log: the gap, the blocks so far, the gap's end, and a reading. */
  beginning: LogRecord[];
  /** Makes more blocks. @returns their records */
  more(blocks: number): Promise<LogRecord[]>;
  close(): void;
}

export async function openHistory(seed: string, blocks: number): Promise<History> {
  const chain = createChain({ dir: null, seed, genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed, policies: 8 });
  let told = 0;
  const more = async (count: number) => {
    for (let made = 0; made < count; made += 1) await chain.produce(life.next());
    const { accounts, transactions } = recordsOf(chain);
    const all = [...accounts, ...transactions].filter((record) => 'slot' in record);
    const slotOf = (record: LogRecord) => ('slot' in record ? Number(record.slot) : 0);
    // Sorting keeps the order inside a slot: its records, then the markers of both topics.
    const ordered = all.toSorted((a, b) => slotOf(a) - slotOf(b) || rank(a) - rank(b));
    const fresh = ordered.filter((record) => slotOf(record) > told);
    told = Number(chain.tip().slot);
    return fresh;
  };
  const past = await more(blocks);
  const toSlot = chain.tip().slot;
  const gap = (closed: boolean): LogRecord => ({ kind: 'gap', fromSlot: 0n, toSlot, toTime: null, closed });
  return {
    programId: decodeKey(chain.programId) as Uint8Array,
    beginning: [gap(false), ...past, { ...gap(true), toSlot: 0n } as LogRecord, READING],
    more,
    close: () => chain.close(),
  };
}

const rank = (record: LogRecord) => Number(record.kind === 'marker');

const READING: LogRecord = {
  kind: 'reading',
  readAt: 1_760_000_000_000,
  reading: { type: 'venue_status', venue: 'perp', ok: true, error: null },
};
