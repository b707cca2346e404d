import { encodeBase58 } from '../../schemas/solana/base58.ts';
import type { Action } from '../program/actions.ts';
import type { Addresses } from '../program/state/addresses.ts';
import { keyOf } from '../program/state/keys.ts';
import { createRandom } from '../program/state/random.ts';
import type { Key, ProgramState } from '../program/state/state.ts';
import { genesisWrites, type LastWrite } from './account-book.ts';
import { type BlockRecord, blockhashAt, blockOf } from './block-record.ts';
import { type ChainTransactionFacts, createHistory, type HistoryBlock } from './history.ts';
import type { Block, Ledger, SignatureEntry } from './ledger.ts';
import { runBlock } from './produce.ts';
import type { BlockStore } from './store/block-store.ts';
import { type LedgerOptions, readBack } from './store/read-back.ts';
import { signatureAt } from './transactions.ts';

export const SLOT_MS = 400;
const SKIP_CHANCE = 0.03;
const MENTION_CHANCE = 0.02;
/** Blocks kept in memory whole; older ones are rebuilt from their record. */
const RECENT_BLOCKS = 600;

export interface ChainOptions extends LedgerOptions {
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
  /** The last write of an account, also of a closed one; null: never written. */
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
  nextSlotAtLeast(): bigint;
  state(): ChainState;
  history(): Iterable<HistoryBlock>;
  /** What each block has changed, without the first `skipped` blocks. */
  changes(skipped: number): Iterable<BlockChanges>;
  held: BlockStore['held'];
  close(): void;
}

/** Every account that a block wrote, as it left it; null: closed. */
export type BlockChanges = Pick<BlockRecord, 'slot' | 'blockTime' | 'rows'>;

export type { ChainTransactionFacts, HistoryBlock };

/** Opens a local chain; an existing ledger in `dir` goes on exactly where its last whole block ended. */
export function createChain(options: ChainOptions): Chain {
  const { head, store, state, book, builder, last } = readBack(options);
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
  const history = createHistory(function* (skipped) {
    for (const record of store.records(skipped)) yield blockOf(record, builder);
  });
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
    const record = store.record(slot);
    return record === null ? null : keep(blockOf(record, builder));
  };
  const mustHave = (slot: bigint): Block => {
    const found = block(slot);
    if (found === null) throw new RangeError(`no block in slot ${slot}`);
    return found;
  };
  const nextSlotAtLeast = () => (last.slot + 1n > notBefore ? last.slot + 1n : notBefore);
  const nextSlot = (): bigint => {
    let slot = nextSlotAtLeast();
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
      const position = store.find(signature);
      if (position === null) return null;
      const found = mustHave(position.slot);
      const tx = found.transactions[position.index];
      return tx === undefined ? null : { block: found, tx };
    },
    signaturesFor: (address, before, limit) => {
      const from = before === null ? null : store.find(before);
      if (before !== null && from === null) return [];
      return store.of(keyOf(address), from, limit).map(({ slot, index, isFailed }): SignatureEntry => {
        // Only where a transaction failed does the answer need the transaction itself.
        const tx = isFailed ? mustHave(slot).transactions[index] : undefined;
        const { failed, failure } = tx ?? { failed: null, failure: null };
        return {
          ...{ signature: signatureAt(seed, slot, index), slot, blockTime: timeOf(slot), index },
          ...{ failed, failure },
        };
      });
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    produce: async (actions) => {
      const busy = store.settle();
      if (busy !== null) await busy;
      const slot = nextSlot();
      const place = { slot, parent: last.slot, blockTime: timeOf(slot), version: last.version };
      const mentions = createRandom(`mention:${seed}:${slot}`).chance(MENTION_CHANCE) ? [null] : [];
      const made = runBlock(state, place, [...actions, ...mentions], builder, book.tableOf);
      store.append(made.record);
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
    nextSlotAtLeast,
    state: () => ({ ...state, lastWrite, written: () => book.lastWrites.keys() }),
    history,
    changes: store.records,
    held: store.held,
    close: store.close,
  };
}
