import { status as grpcStatus, type ServerDuplexStream } from '@grpc/grpc-js';
import { SlotStatus } from '@triton-one/yellowstone-grpc';
import type { Block, Ledger } from '../chain/ledger.ts';
import {
  type EncodedBlock,
  type EncodedUpdate,
  encodeBlock,
  encodeMeta,
  encodePong,
  withFilters,
} from './encode.ts';
import type { GeyserFaults } from './faults.ts';
import { type Filter, FilterRefusedError, parseRequest } from './filter.ts';
import type { BesideMode, ProviderModes } from './modes.ts';
import { createNotices } from './notices.ts';
import { type Reach, replayFrom } from './replay.ts';

/** Slots between the tip and what counts as finalized. */
export const FINALIZED_BEHIND = 32n;
/** Bytes that may wait for a client that does not read, before its stream is ended as lagging. */
const MOST_BUFFERED = 256 * 1024 * 1024;

/** Blocks of a replay that are sent in one go; then the event loop serves others. */
const REPLAYED_AT_ONCE = 50;

/** A server looks at its queue of requests only from time to time: of rewrites closer together, the last counts. */
const REWRITES_APART_MS = 10;

const TOO_LARGE = 'Error, encoded message length too large: found 5000000 bytes, the limit is: 4194304 bytes';

type Call = ServerDuplexStream<Buffer, Buffer>;

export interface SubscriberContext {
  ledger: Ledger;
  faults: GeyserFaults;
  modes(): ProviderModes;
  /** The slots that can be replayed at a commitment. */
  reach(commitment: Filter['commitment']): Reach;
  /** Called once a stream's first filter is applied: everything that happens from then on is sent to it. */
  following(): void;
  /** A block with the write versions of this subscriber's server. */
  encoded(block: Block): EncodedBlock;
}

export interface Subscriber {
  /** The tip moved: sends what the commitment now shows. */
  advance(): void;
  end(code: grpcStatus, details: string): void;
  ping(bytes: Buffer): void;
}

/** One client of Subscribe: its filter, and the slot it was served up to. */
export function createSubscriber(call: Call, context: SubscriberContext): Subscriber {
  const { ledger, faults, modes } = context;
  let filter: Filter | null = null;
  /** The newest request that is not applied yet. Older ones that were waiting are never applied. */
  let queued: Filter | null = null;
  /**
   * The next slot to send (`next`), to announce as finalized (`finalNext`), and, on a finalized stream, to announce as
   * confirmed (`headNext`).
   */
  let next = 0n;
  let finalNext = 0n;
  let headNext = 0n;
  let sent = 0;
  let over = false;
  /** A long replay has paused and goes on by itself. */
  let resting = false;

  const end = (code: grpcStatus, details: string) => {
    if (over) return;
    over = true;
    if (code === grpcStatus.OK) call.end();
    else call.emit('error', Object.assign(new Error(details), { code, details }));
  };
  const write = (update: EncodedUpdate, names: readonly string[]) => {
    if (names.length === 0 || over) return;
    for (const bytes of faults.shape(withFilters(update, modes().nameless ? [] : names))) call.write(bytes);
    sent += 1;
    const { lag } = modes();
    if (lag !== null && sent >= lag) end(grpcStatus.INTERNAL, 'lagged');
  };
  const notices = createNotices(write);

  const sendDead = (wanted: Filter, block: Block) => {
    const { accounts, transactions, meta } = encodeBlock(block);
    for (const update of accounts) write(update, wanted.accounts(update));
    for (const update of transactions) write(update, wanted.transactions(update));
    write(meta, wanted.blocksMeta);
  };
  const sendBlock = (wanted: Filter, block: Block) => {
    const told = faults.blockAsSent(block);
    const { accounts, transactions, meta } = told === block ? context.encoded(block) : encodeBlock(told);
    const dead = faults.deadVersion(ledger, block);
    const isFinal = wanted.commitment === 'finalized';
    for (const update of faults.oddities(block)) write(update, wanted.blocksMeta);
    if (!isFinal) notices.before(wanted, block);
    if (dead?.told === 'first') sendDead(wanted, dead.block);
    const ordered = faults.order(accounts);
    const late = modes().late ? Math.floor(ordered.length / 2) : ordered.length;
    for (const update of ordered.slice(0, late)) write(update, wanted.accounts(update));
    // Faults on transactions are counted, so apply them only where the stream asks for some: one of addresses does not.
    const isAsked = transactions.some((update) => wanted.transactions(update).length > 0);
    const sent = isAsked ? faults.transactions(told, transactions) : [];
    for (const update of faults.order(sent)) write(update, wanted.transactions(update));
    write(modes().parentless ? encodeMeta({ ...block, parent: 0n }) : meta, wanted.blocksMeta);
    if (dead?.told === 'last') sendDead(wanted, dead.block);
    notices.tell(wanted, block, isFinal ? SlotStatus.SLOT_FINALIZED : SlotStatus.SLOT_CONFIRMED);
    for (const update of ordered.slice(late)) write(update, wanted.accounts(update));
    if (dead?.told === 'late') sendDead(wanted, dead.block);
  };

  const endBeside = (beside: BesideMode) => {
    if (beside === 'unavailable') end(grpcStatus.UNAVAILABLE, 'no server for this request');
    if (beside === 'ended') end(grpcStatus.OK, '');
    if (beside === 'limited')
      end(grpcStatus.RESOURCE_EXHAUSTED, 'Too many connections: the limit of 5 is reached');
  };

  /** Pauses a replay: it goes on once other work had its turn and the client has read what was sent. */
  const rest = () => {
    resting = true;
    const goOn = () =>
      setImmediate(() => {
        resting = false;
        advance();
      });
    if (call.writableNeedDrain) call.once('drain', goOn);
    else goOn();
  };

  const advance = () => {
    if (filter === null || over || resting || faults.stalled(filter.isOfAddresses) || modes().pings) return;
    const wanted = filter;
    if (wanted.isOfAddresses && modes().beside !== 'taken') return endBeside(modes().beside);
    const tip = ledger.tip().slot;
    if (wanted.commitment === 'finalized') {
      for (; headNext <= tip; headNext += 1n) {
        const block = ledger.block(headNext);
        if (block === null) continue;
        notices.before(wanted, block);
        notices.tell(wanted, block, SlotStatus.SLOT_CONFIRMED);
      }
    }
    const shown = context.reach(wanted.commitment).tip;
    for (let sentNow = 0; next <= shown && !over; next += 1n) {
      const block = ledger.block(next);
      if (block !== null) sentNow += 1;
      if (sentNow > REPLAYED_AT_ONCE) return rest();
      if (faults.chokes(next)) return end(grpcStatus.OUT_OF_RANGE, TOO_LARGE);
      if (block !== null && !faults.hidden(next, wanted.isOfAddresses)) sendBlock(wanted, block);
      if (call.writableLength > MOST_BUFFERED) return end(grpcStatus.INTERNAL, 'lagged');
    }
    if (wanted.commitment === 'finalized') return;
    for (; finalNext <= tip - FINALIZED_BEHIND; finalNext += 1n) {
      const block = ledger.block(finalNext);
      if (block !== null) notices.tell(wanted, block, SlotStatus.SLOT_FINALIZED);
    }
  };

  const apply = () => {
    const wanted = queued;
    queued = null;
    if (wanted === null || over) return;
    const { tip } = ledger;
    const reach = context.reach(wanted.commitment);
    const isFirst = filter === null;
    const replay = wanted.fromSlot === null ? 'live' : replayFrom(modes().replay, wanted.fromSlot, reach);
    if (replay !== 'live' && 'code' in replay) return end(replay.code, replay.details);
    if (replay !== 'live') next = replay.from;
    else if (isFirst) next = reach.tip + 1n;
    if (isFirst || replay !== 'live') notices.from(next);
    if (isFirst) {
      finalNext = tip().slot - FINALIZED_BEHIND + 1n;
      if (finalNext < 0n) finalNext = 0n;
      headNext = tip().slot + 1n;
    }
    filter = wanted;
    if (isFirst) context.following();
    advance();
  };

  call.on('data', (bytes: Buffer) => {
    if (over) return;
    if (bytes.length > modes().requestBytes) return end(grpcStatus.OK, '');
    try {
      const request = parseRequest(bytes, modes());
      if (request.pingId !== null) return void call.write(encodePong(request.pingId));
      if (queued === null) setTimeout(apply, filter === null ? 0 : REWRITES_APART_MS);
      queued = request.filter;
    } catch (error) {
      const isKnown = error instanceof FilterRefusedError;
      end(grpcStatus.INVALID_ARGUMENT, isKnown ? error.message : 'failed to decode the request');
    }
  });
  return { advance, end, ping: (bytes) => void (over || call.write(bytes)) };
}
