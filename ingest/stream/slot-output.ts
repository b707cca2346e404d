import type { AccountRecord, LogRecord } from '../../schemas/records.ts';
import type { Gap } from '../history/gap.ts';
import type { LateSlots } from '../verify/late-slots.ts';
import type { StreamEvent } from './event.ts';
import { type FollowedStates, lateOutput } from './followed-stream/followed.ts';
import type { FollowedAddresses } from './following/addresses.ts';
import type { ReleasedSlot, Slots, SlotsOutput } from './slots/machine.ts';
import type { MadeTwice } from './slots/made-twice.ts';
import { recordsOf } from './slots/records.ts';
import type { Unreadable } from './unreadable.ts';

export interface SlotOutputOptions {
  slots: Slots;
  late: LateSlots;
  following: FollowedAddresses;
  unreadable: Unreadable;
  /**
   * The stream of followed addresses. A function, because that stream is made later: it sends late states through this
   * output.
   */
  followed(): FollowedStates;
  send(records: readonly LogRecord[]): Promise<void>;
  learn(record: AccountRecord): void;
  report(event: StreamEvent): void;
  openGap(gap: Gap): void;
  madeTwice: MadeTwice;
  /** Called once, with the first slot. */
  onBegin(): void;
  /** First slot of the gap that ends where the stream begins; null where the stream begins where the log ends. */
  gapFrom: bigint | null;
  /** The slot of the last marker that the log had; null where it had none. */
  position: bigint | null;
}

/** Turns what the slots put out into records of the log. */
export interface SlotOutput {
  handle(output: SlotsOutput): void;
  /** The stream begins anew, behind a gap with this first slot. */
  beginsAnew(gapFrom: bigint): void;
  /** The highest slot whose marker may be in the log; a new beginning of the stream does not reset it. */
  sentUpTo(): bigint | null;
}

export function createSlotOutput(options: SlotOutputOptions): SlotOutput {
  const { slots, late, following, unreadable, followed, madeTwice, send, learn, report } = options;
  let { gapFrom } = options;
  let hasBegun = false;
  let sentUpTo = options.position;

  /**
   * States of followed addresses for a slot. Those of earlier slots that come with them are late, and are sent as such.
   */
  const statesOf = (slot: bigint) => {
    const states = followed().upTo(slot);
    for (const state of states) if (state.slot < slot) handle(lateOutput(slots, followed(), state));
    return states.filter((state) => state.slot === slot);
  };
  const begin = ({ slot, blockTime }: Extract<SlotsOutput, { type: 'begun' }>) => {
    followed().beginAt(slot);
    for (const state of statesOf(slot)) handle(lateOutput(slots, followed(), state));
    // A provider may begin at a slot that the log has already: no slot is missing then.
    if (gapFrom !== null && gapFrom <= slot)
      options.openGap({ fromSlot: gapFrom, toSlot: slot, toTime: blockTime });
    gapFrom = null;
  };
  const sendLate = (output: Extract<SlotsOutput, { type: 'late' }>) => {
    const { update, blockTime } = output;
    if (update.type === 'transaction') {
      unreadable.transaction(update, blockTime);
      late.add(update.slot, slots.last ?? update.slot);
    }
    void send(recordsOf(output, learn, following));
    report({ type: 'late' });
  };
  const sendReleased = (output: Extract<SlotsOutput, { type: 'released' }>) => {
    const { slot, blockTime, accounts, transactions }: ReleasedSlot = output.slot;
    accounts.push(...statesOf(slot));
    unreadable.released(slot);
    for (const update of transactions) unreadable.transaction(update, blockTime);
    const cover = followed().cover.markerFields(slot, blockTime);
    if (sentUpTo === null || slot > sentUpTo) sentUpTo = slot;
    const sent = send(recordsOf(output, learn, following, cover));
    madeTwice.released(slot);
    const counts = { accounts: accounts.length, transactions: transactions.length };
    void sent.then(() => {
      followed().onMarked(cover.followed?.slot ?? slot);
      report({ type: 'released', slot, blockTime, ...counts });
    });
  };
  const handle = (output: SlotsOutput): void => {
    if (output.type === 'late') {
      sendLate(output);
      return;
    }
    if (output.type === 'madeTwice') {
      madeTwice.found(output.slot);
      followed().cover.missed(output.slot - 1n, output.slot + 1n);
      return;
    }
    if (output.type === 'begun') begin(output);
    else sendReleased(output);
    report({ type: 'connected' });
    if (!hasBegun) {
      hasBegun = true;
      options.onBegin();
    }
  };

  return {
    handle,
    beginsAnew: (from) => {
      gapFrom = from;
    },
    sentUpTo: () => sentUpTo,
  };
}
