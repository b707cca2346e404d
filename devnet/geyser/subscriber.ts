import { status as grpcStatus, type ServerDuplexStream } from '@grpc/grpc-js';
import { SlotStatus } from '@triton-one/yellowstone-grpc';
import type { Block, Ledger } from '../chain/ledger.ts';
import { type EncodedBlock, type EncodedUpdate, encodePong, encodeSlot, withFilters } from './encode.ts';
import type { GeyserFaults } from './faults.ts';
import { type Filter, parseRequest } from './filter.ts';

/** Slots between the tip and what counts as finalized. */
export const FINALIZED_BEHIND = 32n;
/** Bytes that may wait for a client that does not read, before it is told that it lags. */
const MOST_BUFFERED = 256 * 1024 * 1024;

type SubscribeStream = ServerDuplexStream<Buffer, Buffer>;

export interface SubscriberContext {
  ledger: Ledger;
  retentionSlots: bigint;
  faults: GeyserFaults;
  encoded(block: Block): EncodedBlock;
}

export interface Subscriber {
  /** The tip moved: sends what the commitment now shows. */
  advance(): void;
  end(code: grpcStatus, details: string): void;
  ping(bytes: Buffer): void;
}

/** One client of Subscribe: its filter, and the slot it was served up to. */
export function createSubscriber(call: SubscribeStream, context: SubscriberContext): Subscriber {
  const { ledger, faults } = context;
  let filter: Filter | null = null;
  /** The next slot to look at. */
  let next = 0n;
  let notices = 0n;
  let over = false;

  const end = (code: grpcStatus, details: string) => {
    if (over) return;
    over = true;
    if (code === grpcStatus.OK) call.end();
    else call.emit('error', Object.assign(new Error(details), { code, details }));
  };
  const write = (update: EncodedUpdate, names: readonly string[]) => {
    if (names.length > 0) for (const bytes of faults.shape(withFilters(update, names))) call.write(bytes);
  };
  const shown = (wanted: Filter): bigint => {
    const tip = ledger.tip().slot;
    return wanted.commitment === 'finalized' ? tip - FINALIZED_BEHIND : tip;
  };

  const slotNotice = (wanted: Filter, slot: bigint, parent: bigint, status: SlotStatus) => {
    const own = wanted.commitment === 'finalized' ? SlotStatus.SLOT_FINALIZED : SlotStatus.SLOT_CONFIRMED;
    const names = wanted.slots
      .filter(({ byCommitment }) => !byCommitment || status === own)
      .map(({ name }) => name);
    write(encodeSlot(slot, parent, status), names);
  };

  const sendBlock = (wanted: Filter, block: Block) => {
    const { accounts, transactions, meta } = context.encoded(block);
    const { slot, parent } = block;
    slotNotice(wanted, slot, parent, SlotStatus.SLOT_PROCESSED);
    for (const update of faults.order(accounts)) write(update, wanted.accounts(update));
    for (const update of faults.order(transactions)) write(update, wanted.transactions(update));
    if (wanted.commitment !== 'finalized') slotNotice(wanted, slot, parent, SlotStatus.SLOT_CONFIRMED);
    else slotNotice(wanted, slot, parent, SlotStatus.SLOT_FINALIZED);
    write(meta, wanted.blocksMeta);
  };

  const advance = () => {
    if (filter === null || over || faults.stalled()) return;
    const end_ = shown(filter);
    for (; next <= end_; next += 1n) {
      const block = ledger.block(next);
      if (block !== null && !faults.hidden(next)) sendBlock(filter, block);
      if (call.writableLength > MOST_BUFFERED) return end(grpcStatus.INTERNAL, 'lagged');
    }
    const finalized = ledger.tip().slot - FINALIZED_BEHIND;
    for (; filter.commitment === 'confirmed' && notices <= finalized; notices += 1n) {
      const block = ledger.block(notices);
      if (block !== null) slotNotice(filter, notices, block.parent, SlotStatus.SLOT_FINALIZED);
    }
  };

  call.on('data', (bytes: Buffer) => {
    try {
      const request = parseRequest(bytes);
      if (request.pingId !== null) return void call.write(encodePong(request.pingId));
      const wanted = request.filter as Filter;
      const { fromSlot } = wanted;
      const tip = shown(wanted);
      if (fromSlot !== null && fromSlot <= tip) {
        const oldest = tip - context.retentionSlots + 1n;
        const first = oldest > ledger.firstSlot ? oldest : ledger.firstSlot;
        if (fromSlot < first)
          return end(grpcStatus.OUT_OF_RANGE, `from_slot ${fromSlot} is not available, oldest ${first}`);
        next = fromSlot;
      } else if (filter === null) next = fromSlot ?? tip + 1n;
      if (filter === null) notices = ledger.tip().slot - FINALIZED_BEHIND + 1n;
      if (notices < 0n) notices = 0n;
      filter = wanted;
      advance();
    } catch (error) {
      end(grpcStatus.INVALID_ARGUMENT, (error as Error).message);
    }
  });
  return { advance, end, ping: (bytes) => void (over || call.write(bytes)) };
}
