import { SlotStatus } from '@triton-one/yellowstone-grpc';
import type { Block } from '../chain/ledger.ts';
import { type EncodedUpdate, encodeSlot } from './encode.ts';
import type { Filter } from './filter.ts';

/** Statuses of a bank on its way to be processed; sent only to filters that ask for them. */
const ON_THE_WAY = [
  SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
  SlotStatus.SLOT_CREATED_BANK,
  SlotStatus.SLOT_COMPLETED,
] as const;

export interface Notices {
  /** Sends the statuses of a block's slot, and of the slot after it, that come before the block itself. */
  before(filter: Filter, block: Block): void;
  /** Sends a status of a slot that has a block. */
  tell(filter: Filter, block: Block, status: SlotStatus): void;
  /** Statuses begin again at this slot, as for a replay. */
  from(slot: bigint): void;
}

/**
 * Sends one subscriber the statuses of slots. A slot is announced as processed before the slot in front of it is
 * confirmed. Where the chain then skips it, it was a fork: it is announced as dead, and never confirmed.
 */
export function createNotices(write: (update: EncodedUpdate, names: readonly string[]) => void): Notices {
  let processed = -1n;
  const tellSlot = (filter: Filter, slot: bigint, parent: bigint, status: SlotStatus) => {
    const own = filter.commitment === 'finalized' ? SlotStatus.SLOT_FINALIZED : SlotStatus.SLOT_CONFIRMED;
    const isRare = status > SlotStatus.SLOT_FINALIZED;
    const names = filter.slots
      .filter(({ byCommitment, interslot }) => (isRare ? interslot : !byCommitment || status === own))
      .map(({ name }) => name);
    write(encodeSlot(slot, parent, status), names);
  };
  const processedOnce = (filter: Filter, slot: bigint, parent: bigint) => {
    if (slot <= processed) return;
    processed = slot;
    for (const status of ON_THE_WAY) tellSlot(filter, slot, parent, status);
    tellSlot(filter, slot, parent, SlotStatus.SLOT_PROCESSED);
  };
  return {
    before: (filter, { slot, parent }) => {
      for (let fork = parent + 1n; fork < slot && fork <= processed; fork += 1n)
        tellSlot(filter, fork, parent, SlotStatus.SLOT_DEAD);
      processedOnce(filter, slot, parent);
      processedOnce(filter, slot + 1n, slot);
    },
    tell: (filter, { slot, parent }, status) => tellSlot(filter, slot, parent, status),
    from: (slot) => {
      processed = slot - 1n;
    },
  };
}
