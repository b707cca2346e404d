import type { Logger } from '../../../runtime/process/log.ts';
import type { AccountRecord, LogRecord } from '../../../schemas/records.ts';
import type { AccountReader } from '../../history/accounts/account-reader.ts';
import type { LogPosition } from '../../log/port.ts';
import { behindStream, newestSlot } from '../following/behind-stream.ts';
import type { GeyserClient } from '../geyser/client.ts';
import type { AccountUpdate } from '../geyser/update.ts';
import type { StreamLimits } from '../limits.ts';
import type { Slots, SlotsOutput } from '../slots/machine.ts';
import type { Beside } from './port.ts';
import { createRota } from './rota.ts';
import type { Followed } from './standing.ts';
import { createBeside } from './stream.ts';
import { createTurned } from './turned.ts';

export interface FollowedOptions extends StreamLimits {
  client: GeyserClient;
  slots: Slots;
  commitment: 'confirmed' | 'finalized';
  programId: Uint8Array;
  position: LogPosition | null;
  /** Those that are streamed. */
  addresses(): string[];
  /** Balances that are read over RPC in turns, whatever the provider takes. */
  named(): string[];
  reader: AccountReader;
  /** Reads these at that slot or later, until done. */
  read(addresses: readonly string[], notBefore: bigint): void;
  learn(record: AccountRecord): void;
  send(records: readonly LogRecord[]): Promise<void>;
  /** What a state that came late, or a slot that was held back, is handled as. */
  handle(output: SlotsOutput): void;
  onFollowed(followed: Followed): void;
  logger: Logger;
  signal: AbortSignal;
}

export interface FollowedStates extends Beside {
  /** A state that goes into the log, whoever found it. */
  told(record: AccountRecord): void;
  /** There are other named balances than before. */
  onNamed(): void;
}

/** Followed addresses: streamed beside the core as far as the provider takes them, the rest read over RPC in turns. */
export function createFollowed(options: FollowedOptions): FollowedStates {
  const { slots, programId, handle, logger, signal } = options;
  const turned = createTurned();
  const asSeen = (update: AccountUpdate): AccountUpdate =>
    turned.isFirst(update.address) ? { ...update, isReading: true } : update;
  const rota = createRota({
    reader: options.reader,
    notBefore: () => slots.last ?? 0n,
    onRead: async (records) => {
      // Of the program's own accounts the core brings every state.
      await behindStream(newestSlot(records), () => slots.last, signal);
      for (const record of records) options.learn(record);
      await options.send(records);
    },
    onLeft: turned.left,
    ...(options.rotaMs === undefined ? {} : { everyMs: options.rotaMs }),
    ...{ logger, signal },
  });
  let overRpc: readonly string[] = [];
  const setRota = () => rota.set([...overRpc, ...options.named()]);
  const beside = createBeside({
    ...options,
    isOfCore: ({ owner, lamports }) => lamports > 0n && Buffer.compare(owner, programId) === 0,
    core: slots,
    coreTimeOf: (slot) => slots.timeOf(slot),
    onLate: (update) => handle(lateOutput(slots, beside, asSeen(update))),
    read: (addresses, notBefore) => {
      turned.carried(addresses, notBefore);
      options.read(addresses, notBefore);
    },
    onCeiling: (ceiling) => {
      for (const output of slots.hold(ceiling)) handle(output);
    },
    onAway: rota.round,
    onReached: () => {
      const marker = beside.cover.caughtUp();
      if (marker !== null) void options.send([marker]);
    },
    onFollowed: (followed, rest) => {
      if (rest !== overRpc) {
        overRpc = rest;
        setRota();
      }
      options.onFollowed(followed);
    },
  });
  return {
    ...beside,
    upTo: (slot) => beside.upTo(slot).map(asSeen),
    told: (record) => {
      if (record.source === 'rpc') turned.read(record.address, record.slot);
      rota.told(record);
    },
    onNamed: setRota,
  };
}

/** Of a slot that the core never brought the stream beside it knows the time. */
export const lateOutput = (
  slots: Slots,
  beside: Pick<Beside, 'timeOf'>,
  update: AccountUpdate,
): SlotsOutput => ({
  type: 'late',
  update,
  blockTime: slots.timeOf(update.slot) ?? beside.timeOf(update.slot),
});
