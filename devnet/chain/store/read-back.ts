import { DEVNET_PROGRAM_ID } from '../../../schemas/program/devnet-program.ts';
import { createAddresses } from '../../program/state/addresses.ts';
import { applyChanges } from '../../program/state/draft.ts';
import { LAYOUT_OF_FORMAT_1 } from '../../program/state/layout-name.ts';
import { emptyState, type Key, type ProgramState } from '../../program/state/state.ts';
import { type AccountBook, createAccountBook, genesisWrites } from '../account-book.ts';
import { type LedgerHead, layoutOf } from '../block-record.ts';
import { REMOVE_IT } from '../storage.ts';
import type { Builder, CutLogs } from '../transactions.ts';
import { type BlockStore, openBlockStore } from './block-store.ts';
import { openLedger } from './ledger-file.ts';
import { piecesOf, restore } from './snapshot.ts';

/** Bytes of records in a segment, which a start has to read: an hour of 40 policies. */
const SEGMENT_BYTES = 1 << 26;

export interface LedgerOptions {
  /** Directory of the ledger's file; null keeps it in memory. */
  dir: string | null;
  seed: string | number;
  /** Milliseconds of slot 0. An existing ledger keeps its own. */
  genesisTime: number;
  programId?: Key;
  firstSlot?: bigint;
  /** Share of transactions whose logs are cut. */
  cutLogs?: Partial<CutLogs>;
  /** Once the file has so many bytes of records, they are moved into the archive, where there is a directory. */
  segmentBytes?: number;
}

/** A chain as it was at the end of its ledger. */
export interface ReadBack {
  head: LedgerHead;
  store: BlockStore;
  state: ProgramState;
  book: AccountBook;
  builder: Builder;
  last: { slot: bigint; version: bigint };
}

/** Reads the ledger back, or starts one. @throws RangeError where the directory holds another chain */
export function readBack(options: LedgerOptions): ReadBack {
  const { dir, segmentBytes = SEGMENT_BYTES } = options;
  const seed = String(options.seed);
  const programId = options.programId ?? DEVNET_PROGRAM_ID;
  const fresh: LedgerHead = {
    format: 2,
    layout: layoutOf(2),
    seed,
    programId,
    genesisMs: options.genesisTime,
    firstSlot: options.firstSlot ?? 1n,
  };
  const files = openLedger(dir, fresh);
  const { head } = files;
  mustBeOf(head, fresh, dir);
  const state = emptyState();
  const book = createAccountBook(state, head);
  const addresses = createAddresses(programId);
  const cutLogs = { onStream: 0.0025, forGood: 0, ...options.cutLogs };
  const { slot, version } = head.archived ?? {
    slot: head.firstSlot,
    version: BigInt(genesisWrites(programId).length),
  };
  const last = { slot, version };
  const store = openBlockStore(
    files,
    { mentioned: programId, segmentBytes },
    {
      piece: (piece) => restore(state, book, piece),
      block: (record) => {
        applyChanges(state, record.rows);
        book.apply(record);
        last.slot = record.slot;
        for (const { version } of record.written) if (version > last.version) last.version = version;
      },
      snapshot: () => ({ ...last, pieces: piecesOf(state, book) }),
    },
  );
  return { head, store, state, book, last, builder: { seed, programId, addresses, cutLogs } };
}

/** @throws RangeError where the ledger has another layout, seed or program */
function mustBeOf(head: LedgerHead, { seed, programId }: LedgerHead, dir: string | null): void {
  if ((head.layout ?? LAYOUT_OF_FORMAT_1) !== layoutOf(head.format))
    throw new RangeError(`${dir} holds a chain whose program has another byte layout: ${REMOVE_IT}`);
  if (head.seed !== seed || head.programId !== programId) {
    throw new RangeError(
      `${dir} holds the chain of seed ${head.seed} and program ${head.programId}: give that seed, or another directory`,
    );
  }
}
