import { chunks } from '../../../runtime/chunks.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import type { AccountRecord, ExpectedAccount, LogRecord } from '../../../schemas/records.ts';
import { tokenKindOf } from '../../../schemas/solana/token.ts';
import type { AccountReader } from '../../accounts/account-reader.ts';
import type { LogPosition } from '../../log/port.ts';
import type { GeyserClient } from '../geyser/client.ts';
import type { AccountUpdate } from '../geyser/update.ts';
import type { StreamLimits } from '../limits.ts';
import type { Slots, SlotsOutput } from '../slots/machine.ts';
import { newestSlot, waitForStream } from '../sweeps/wait-for-stream.ts';
import { createCarriedAddresses, type LostBefore } from './carried.ts';
import type { Followed } from './followed-status.ts';
import { createLeftRota } from './left-rota.ts';
import type { FollowedStream, FollowedStreamOptions } from './port.ts';
import { createRota } from './rota.ts';
import { createFollowedStream } from './stream.ts';

export interface FollowedOptions extends StreamLimits {
  client: GeyserClient;
  slots: Slots;
  commitment: 'confirmed' | 'finalized';
  programId: Uint8Array;
  position: LogPosition | null;
  /** What no stream carried when this began, as far as is known. */
  lost: readonly LostBefore[];
  expectedAt(address: Uint8Array): ExpectedAccount | null;
  /** The addresses that are to be streamed, what matters most first. */
  addresses(): readonly string[];
  /** Balances that are read over RPC in turns, whatever the provider takes. */
  named(): string[];
  reader: AccountReader;
  /** Reads these at that slot or later, until done. */
  read(addresses: readonly string[], notBefore: bigint): void;
  /** Likewise, one such reading at a time. */
  reread(addresses: readonly string[], notBefore: bigint): void;
  learn(record: AccountRecord): void;
  send(records: readonly LogRecord[]): Promise<void>;
  /** Handles a state that came late, or a slot that was held back. */
  handle(output: SlotsOutput): void;
  onFollowed(followed: Followed): void;
  onUnreadable: FollowedStreamOptions['onUnreadable'];
  logger: Logger;
  signal: AbortSignal;
}

export interface FollowedStates extends FollowedStream {
  /** A state goes into the log, from whatever source. */
  told(record: AccountRecord): void;
  /** An address becomes a named balance, or stops being one. */
  onNamed(address: string, isNamed: boolean): void;
  /** The log has a marker that says that followed addresses are in it up to this slot. */
  onMarked(followed: bigint): void;
  /** Addresses that came up before this process began, and are asked for only now. */
  addLate(addresses: readonly string[]): void;
  /** Adds losses that the log told before this process began, and that are known only now. */
  addEarlierLosses(lost: readonly LostBefore[]): void;
}

const RECORDS_AT_ONCE = 5_000;

/** Followed addresses: streamed beside the core as far as the provider takes them, the rest read over RPC in turns. */
export function createFollowed(options: FollowedOptions): FollowedStates {
  const { slots, programId, handle, logger, signal } = options;
  const leftRota = createLeftRota();
  const asSeen = (update: AccountUpdate): AccountUpdate =>
    leftRota.isFirst(update.address) ? { ...update, isReading: true } : update;
  const readBy = (read: FollowedOptions['read']) => (addresses: readonly string[], notBefore: bigint) => {
    leftRota.carried(addresses, notBefore);
    read(addresses, notBefore);
  };
  const reread = readBy(options.reread);
  const asCarried = (read: FollowedOptions['read']) => (addresses: readonly string[], notBefore: bigint) => {
    carried.readOverRpc(addresses, notBefore);
    readBy(read)(addresses, notBefore);
  };
  const carried = createCarriedAddresses({
    ...{ lost: options.lost, expectedAt: options.expectedAt, reread },
    timeOf: (slot) => slots.timeOf(slot) ?? beside.timeOf(slot),
    send: (records) => {
      for (const some of chunks(records, RECORDS_AT_ONCE)) void options.send(some);
    },
  });
  const rota = createRota({
    reader: options.reader,
    notBefore: () => slots.last ?? 0n,
    onRead: async (records) => {
      // The core brings every state of the program's own accounts: readings go into the log behind those.
      await waitForStream(newestSlot(records), () => slots.last, signal);
      for (const record of records) options.learn(record);
      await options.send(records);
    },
    onJoined: (addresses) => carried.lost(addresses, beside.cover.brought() ?? 0n),
    onLeft: (addresses, read) => {
      leftRota.left(read);
      carried.leftRota(addresses);
    },
    ...(options.rotaMs === undefined ? {} : { everyMs: options.rotaMs }),
    ...{ logger, signal },
  });
  /**
   * Whether the record is of the turns of mints and metadata, at an address that is named as a balance and is none:
   * that no balance stands there is for the rota to tell.
   */
  const isBesideBalance = (record: AccountRecord) =>
    (record.expected === 'mint' || record.expected === 'metadata') &&
    options.expectedAt(record.address) === 'token_account' &&
    tokenKindOf(record) !== 'account';
  let overRpc: readonly string[] = [];
  const setRota = () => rota.set([...overRpc, ...options.named()]);
  const beside = createFollowedStream({
    ...options,
    isOfCore: ({ owner, lamports }) => lamports > 0n && Buffer.compare(owner, programId) === 0,
    core: slots,
    coreTimeOf: (slot) => slots.timeOf(slot),
    onLate: (update) => handle(lateOutput(slots, beside, asSeen(update))),
    read: asCarried(options.read),
    reread: asCarried(options.reread),
    onAtWork: carried.requestAtWork,
    onCeiling: (ceiling) => {
      for (const output of slots.hold(ceiling)) handle(output);
    },
    onAway: rota.round,
    onReached: () => {
      const marker = beside.cover.catchUpMarker();
      if (marker === null) return;
      void options.send([marker]).then(() => carried.markerLogged(marker.followed?.slot ?? marker.slot));
    },
    onFollowed: (followed, rest) => {
      if (rest !== overRpc) {
        overRpc = rest;
        setRota();
      }
      options.onFollowed(followed);
    },
  });
  setRota();
  return {
    ...beside,
    upTo: (slot) => beside.upTo(slot).map(asSeen),
    told: (record) => {
      if (record.source === 'rpc') leftRota.read(record.address, record.slot);
      carried.stateLogged(record);
      if (!isBesideBalance(record)) rota.told(record);
    },
    add: (addresses) => {
      carried.added(addresses);
      beside.add(addresses);
    },
    addLate: (addresses) => {
      carried.lost(addresses, options.position?.followed ?? 0n);
      carried.leftRota(addresses);
      beside.add(addresses);
    },
    addEarlierLosses: carried.addEarlierLosses,
    onMarked: carried.markerLogged,
    onNamed: (address, isNamed) => (isNamed ? rota.join(address) : rota.leave(address)),
  };
}

/**
 * A late state, as an output of the slots. The stream beside the core knows the time of a slot that the core never
 * brought.
 */
export const lateOutput = (
  slots: Slots,
  beside: Pick<FollowedStream, 'timeOf'>,
  update: AccountUpdate,
): SlotsOutput => ({
  type: 'late',
  update,
  blockTime: slots.timeOf(update.slot) ?? beside.timeOf(update.slot),
});
