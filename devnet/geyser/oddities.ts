import { SlotStatus } from '@triton-one/yellowstone-grpc';
import type { Block } from '../chain/ledger.ts';
import { type EncodedUpdate, encodeMeta, encodePing, encodePong, encodeSlot, field } from './encode.ts';

/** Field number of an update of a kind that no version knows yet. */
const UNKNOWN_KIND = 30;

/** The highest slot that a message can hold. */
const NEVER = 2n ** 64n - 1n;

const raw = (bytes: Uint8Array): EncodedUpdate => ({ bytes: Buffer.from(bytes), field: 0 });

/** Updates that a server may send in front of a block and that say nothing true about it, or nothing. Seeded. */
export function oddities(block: Block, next: () => number): EncodedUpdate[] {
  const { slot, parent } = block;
  const far = slot + 1_000_000n;
  const all: (() => EncodedUpdate)[] = [
    // A confirmed slot whose parent is this one, and that the chain reaches in days, or never.
    () => encodeMeta({ ...block, slot: far, parent: slot }),
    () => encodeMeta({ ...block, slot: NEVER, parent: slot }),
    () => encodeSlot(far, slot, SlotStatus.SLOT_CONFIRMED),
    () => encodeSlot(NEVER, slot, SlotStatus.SLOT_CONFIRMED),
    () => raw(field(UNKNOWN_KIND, Buffer.from('of a later version'))),
    () => raw(encodePing()),
    () => raw(encodePong(7)),
    () => raw(new Uint8Array(0)),
    // The same meta with another time; the true one follows it.
    () => encodeMeta({ ...block, blockTime: block.blockTime + 3_600 }),
    () => encodeMeta({ ...block, blockTime: Number.MAX_SAFE_INTEGER }),
    () => encodeMeta({ ...block, parent: slot + 1_000_000n }),
    () => encodeSlot(slot, slot + 5n, SlotStatus.SLOT_PROCESSED),
    () => encodeSlot(slot, parent, SlotStatus.SLOT_CREATED_BANK),
    () => encodeSlot(parent, parent, SlotStatus.SLOT_CONFIRMED),
    () => encodeSlot(slot + 1_000_000_000n, slot, SlotStatus.SLOT_PROCESSED),
  ];
  return all.filter(() => next() < 0.3).map((make) => make());
}
