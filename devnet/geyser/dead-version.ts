import { byteKey } from '../../schemas/solana/byte-key.ts';
import type { AccountWrite, Block, Ledger } from '../chain/ledger.ts';
import { createRandom, type Random, seededBytes } from '../program/state/random.ts';

/** The version of a slot that died, and when it is told: in front of the chain's, behind it, or behind the confirmation. */
export interface DeadVersion {
  block: Block;
  told: 'first' | 'last' | 'late';
}

const SHARE = 0.3;
const TOLD: readonly DeadVersion['told'][] = ['first', 'last', 'late'];
/** Blocks in which states are looked for that accounts had before. */
const LOOKED_BACK = 40n;
const MOST_WRITES = 4;

/**
 * What a slot was before it died and came again, of some slots that a seed decides: accounts that the chain's version did
 * not write, or wrote otherwise. Of a slot it is the same for whoever asks.
 */
export function deadVersion(ledger: Ledger, block: Block, seed: string): DeadVersion | null {
  const random = createRandom(`dead:${seed}:${block.slot}`);
  if (block.slot === ledger.firstSlot || !random.chance(SHARE)) return null;
  return {
    told: random.pick(TOLD),
    block: {
      ...block,
      blockhash: seededBytes(`dead:${seed}:${block.slot}`, 32),
      writes: writesOf(ledger, block, random),
    },
  };
}

/** States that accounts had before the block, and have no more. */
function writesOf(ledger: Ledger, block: Block, random: Random): AccountWrite[] {
  const current = new Map<string, AccountWrite>();
  const older: AccountWrite[] = [];
  const lowest = block.slot - LOOKED_BACK;
  for (let slot = block.slot; slot > lowest && slot > ledger.firstSlot; slot -= 1n) {
    for (const write of ledger.block(slot)?.writes ?? []) {
      const key = byteKey(write.address);
      const known = current.get(key);
      if (known === undefined) current.set(key, write);
      else if (Buffer.compare(known.data, write.data) !== 0) older.push(write);
    }
  }
  const picked = new Map<string, AccountWrite>();
  for (let more = 0; more < MOST_WRITES && older.length > 0; more += 1) {
    const write = random.pick(older);
    picked.set(byteKey(write.address), write);
  }
  return [...picked.values()];
}

const LOST = 0.1;

/** A block without some of the program's transactions and what they wrote last, as a server tells it that lost them. */
export function lossy(block: Block, seed: string): Block {
  const random = createRandom(`lost:${seed}:${block.slot}`);
  const lost = new Set(
    block.transactions.flatMap(({ ours, signature }) =>
      ours && random.chance(LOST) ? [byteKey(signature)] : [],
    ),
  );
  const isKept = ({ signature }: { signature: Uint8Array | null }) =>
    signature === null || !lost.has(byteKey(signature));
  return { ...block, transactions: block.transactions.filter(isKept), writes: block.writes.filter(isKept) };
}
