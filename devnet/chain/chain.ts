import { DEVNET_PROGRAM_ID } from '../../schemas/program/devnet-program.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import type { Action } from '../program/actions.ts';
import { type Addresses, createAddresses } from '../program/state/addresses.ts';
import { applyChanges } from '../program/state/draft.ts';
import { keyOf } from '../program/state/keys.ts';
import { LAYOUT_NAME, LAYOUT_OF_FORMAT_1 } from '../program/state/layout-name.ts';
import { createRandom } from '../program/state/random.ts';
import { emptyState, type Key, type ProgramState } from '../program/state/state.ts';
import { type AccountBook, createAccountBook, genesisWrites, type LastWrite } from './account-book.ts';
import { type BlockRecord, blockhashAt, blockOf, type LedgerHead } from './block-record.ts';
import { type ChainIndex, createChainIndex } from './chain-index.ts';
import { type ChainTransactionFacts, createHistory, type HistoryBlock } from './history.ts';
import type { Block, Ledger, SignatureEntry } from './ledger.ts';
import { runBlock } from './produce.ts';
import { openMemoryRecords, openRecordFile, type RecordFile } from './storage.ts';
import { type Builder, type CutLogs, signatureAt } from './transactions.ts';

export const SLOT_MS = 400;
const SKIP_CHANCE = 0.03;
const MENTION_CHANCE = 0.02;
/** Blocks kept whole; older ones are made again from their record. */
const RECENT_BLOCKS = 600;

export interface ChainOptions {
  /** Directory of the ledger's file; null keeps it in memory. */
  dir: string | null;
  seed: string | number;
  /** Milliseconds of slot 0. An existing ledger keeps its own. */
  genesisTime: number;
  programId?: Key;
  firstSlot?: bigint;
  /** Share of transactions whose logs are cut. */
  cutLogs?: Partial<CutLogs>;
  skipChance?: number;
}

export interface LastWriteFacts {
  slot: bigint;
  /** Unix seconds. */
  blockTime: number;
  /** Base58. */
  signature: string;
}

/** Everything on the chain as typed values, by address; never to be written to. */
export interface ChainState extends Readonly<ProgramState> {
  /** Of an account that was ever written, closed ones included. */
  lastWrite(address: Key): LastWriteFacts | null;
  /** Every address ever written. */
  written(): Iterable<Key>;
}

export interface Chain extends Ledger {
  seed: string;
  programId: Key;
  addresses: Addresses;
  genesisMs: number;
  /** Runs each action as a transaction of the next block. Resolves once the block is in the file. */
  produce(actions: readonly Action[]): Promise<Block>;
  /** The next block's slot is at least this: the slots in between count as skipped. */
  skipTo(slot: bigint): void;
  /** The least slot that the next block may have. */
  coming(): bigint;
  state(): ChainState;
  history(): Iterable<HistoryBlock>;
  /** What each block but so many first ones has changed. */
  changes(skipped: number): Iterable<BlockChanges>;
  close(): void;
}

/** Every account that a block wrote, as it left it; null: closed. */
export type BlockChanges = Pick<BlockRecord, 'slot' | 'blockTime' | 'rows'>;

export type { ChainTransactionFacts, HistoryBlock };

interface Parts {
  head: LedgerHead;
  records: RecordFile;
  state: ProgramState;
  index: ChainIndex;
  book: AccountBook;
  builder: Builder;
  last: { slot: bigint; version: bigint };
}

/** Reads the ledger back, or starts one. @throws RangeError where the directory holds another chain */
function open(options: ChainOptions): Parts {
  const records = options.dir === null ? openMemoryRecords() : openRecordFile(options.dir, 'ledger.bin');
  const seed = String(options.seed);
  const programId = options.programId ?? DEVNET_PROGRAM_ID;
  const scanned = records.scan();
  const first = scanned.next();
  const fresh: LedgerHead = {
    format: 2,
    layout: LAYOUT_NAME,
    seed,
    programId,
    genesisMs: options.genesisTime,
    firstSlot: options.firstSlot ?? 1n,
  };
  const head = first.done === true ? fresh : (first.value.value as LedgerHead);
  if (first.done === true) records.append(head);
  if ((head.layout ?? LAYOUT_OF_FORMAT_1) !== LAYOUT_NAME)
    throw new RangeError(
      `${options.dir} holds a chain whose program has another byte layout: remove it with the index and the log that are of that chain (all of DATA_DIR, where npm start has them there), or give another directory`,
    );
  if (head.seed !== seed || head.programId !== programId) {
    throw new RangeError(
      `${options.dir} holds the chain of seed ${head.seed} and program ${head.programId}: give that seed, or another directory`,
    );
  }
  const state = emptyState();
  const index = createChainIndex(seed, programId);
  const book = createAccountBook(state, head);
  const addresses = createAddresses(programId);
  const cutLogs = { onStream: 0.0025, forGood: 0, ...options.cutLogs };
  const parts = { head, records, state, index, book, builder: { seed, programId, addresses, cutLogs } };
  const last = { slot: head.firstSlot, version: BigInt(genesisWrites(programId).length) };
  if (first.done !== true) {
    for (const { place, value } of scanned) {
      const record = value as BlockRecord;
      applyChanges(state, record.rows);
      index.add(record, place);
      book.apply(record);
      last.slot = record.slot;
      for (const { version } of record.written) if (version > last.version) last.version = version;
    }
  }
  return { ...parts, last };
}

/** Opens a local chain; an existing ledger in `dir` goes on exactly where its last whole block ended. */
export function createChain(options: ChainOptions): Chain {
  const { head, records, state, index, book, builder, last } = open(options);
  const { seed, firstSlot, genesisMs } = head;
  const recent = new Map<bigint, Block>();
  const listeners = new Set<(block: Block) => void>();
  const timeOf = (slot: bigint) => Math.floor((genesisMs + Number(slot) * SLOT_MS) / 1000);
  const genesis: Block = {
    slot: firstSlot,
    parent: firstSlot - 1n,
    blockTime: timeOf(firstSlot),
    blockhash: blockhashAt(seed, firstSlot),
    parentBlockhash: blockhashAt(seed, firstSlot - 1n),
    transactions: [],
    writes: genesisWrites(head.programId),
  };
  const history = createHistory((at) => blockOf(records.read(at) as BlockRecord, builder));
  let notBefore = 0n;

  const keep = (block: Block) => {
    recent.set(block.slot, block);
    const oldest = recent.keys().next();
    if (recent.size > RECENT_BLOCKS && oldest.done !== true) recent.delete(oldest.value);
    return block;
  };
  const block = (slot: bigint): Block | null => {
    if (slot === firstSlot) return genesis;
    const known = recent.get(slot);
    if (known !== undefined) return known;
    const place = index.placeOf(slot);
    return place === null ? null : keep(blockOf(records.read(place) as BlockRecord, builder));
  };
  const mustHave = (slot: bigint): Block => {
    const found = block(slot);
    if (found === null) throw new RangeError(`no block in slot ${slot}`);
    return found;
  };
  const coming = () => (last.slot + 1n > notBefore ? last.slot + 1n : notBefore);
  const nextSlot = (): bigint => {
    let slot = coming();
    while (createRandom(`skip:${seed}:${slot}`).chance(options.skipChance ?? SKIP_CHANCE)) slot += 1n;
    return slot;
  };
  const lastWrite = (address: Key): LastWriteFacts | null => {
    const write: LastWrite | undefined = book.lastWrites.get(address);
    if (write === undefined) return null;
    const signature = encodeBase58(signatureAt(seed, write.slot, write.tx));
    return { slot: write.slot, blockTime: timeOf(write.slot), signature };
  };

  return {
    seed,
    programId: head.programId,
    addresses: builder.addresses,
    genesisMs,
    firstSlot,
    timeOf,
    block,
    tip: () => mustHave(last.slot),
    account: book.get,
    accountsByOwner: book.ownedBy,
    firstWrite: book.firstWrite,
    transaction: (signature) => {
      const position = index.find(signature);
      if (position === null) return null;
      const found = mustHave(position.slot);
      const tx = found.transactions[position.index];
      return tx === undefined ? null : { block: found, tx };
    },
    signaturesFor: (address, before, limit) => {
      const from = before === null ? null : index.find(before);
      if (before !== null && from === null) return [];
      return index.of(keyOf(address), from, limit).map((position): SignatureEntry => {
        const { slot, index: at } = position;
        const place = index.placeOf(slot);
        const record = place === null ? null : (records.read(place) as BlockRecord);
        const failed = record?.executions[at]?.error ?? null;
        // Only where a transaction failed does the answer need the transaction itself.
        const failure = failed === null ? null : (mustHave(slot).transactions[at]?.failure ?? null);
        const signature = signatureAt(seed, slot, at);
        return { signature, slot, blockTime: timeOf(slot), index: at, failed, failure };
      });
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    produce: async (actions) => {
      const slot = nextSlot();
      const place = { slot, parent: last.slot, blockTime: timeOf(slot), version: last.version };
      const mentions = createRandom(`mention:${seed}:${slot}`).chance(MENTION_CHANCE) ? [null] : [];
      const made = runBlock(state, place, [...actions, ...mentions], builder, book.tableOf);
      index.add(made.record, records.append(made.record));
      book.apply(made.record);
      last.slot = slot;
      last.version = made.version;
      keep(made.block);
      for (const listener of listeners) listener(made.block);
      return made.block;
    },
    skipTo: (slot) => {
      notBefore = slot;
    },
    coming,
    state: () => ({ ...state, lastWrite, written: () => book.lastWrites.keys() }),
    history: () => history(index.places()),
    changes: (skipped) =>
      index
        .places()
        .slice(skipped)
        .map((place) => records.read(place) as BlockRecord),
    close: records.close,
  };
}
