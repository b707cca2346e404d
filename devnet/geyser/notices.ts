import { SlotStatus } from '@triton-one/yellowstone-grpc';
import type { Block } from '../chain/ledger.ts';
import { type EncodedUpdate, encodeSlot } from './encode.ts';
import type { Filter } from './filter.ts';

/** Statuses of a bank on its way to be processed; only who asks for them is told. */
const ON_THE_WAY = [
  SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
  SlotStatus.SLOT_CREATED_BANK,
  SlotStatus.SLOT_COMPLETED,
] as const;

export interface Notices {
  /** What is told of a block's slot, and of the slot behind it, before the block itself. */
  before(filter: Filter, block: Block): void;
  /** A status of a slot that has a block. */
  tell(filter: Filter, block: Block, status: SlotStatus): void;
  /** Begins again at this slot. */
  from(slot: bigint): void;
}

/**
 * What one subscriber is told of slots. A slot is processed about a slot before the one in front of it is confirmed:
 * where it is skipped in the end, that was a fork, which is never confirmed.
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
