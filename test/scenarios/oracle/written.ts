import { createHash } from 'node:crypto';
import type { Chain } from '../../../devnet/chain/chain.ts';
import { decodeBase58 } from '../../../schemas/solana/base58.ts';
import type { View } from './view.ts';

interface Writes {
  /** The first slot that is not in it. */
  next: bigint;
  /** By address: when each state was written, in order. */
  byAddress: Map<string, { time: number; state: string }[]>;
}

const known = new WeakMap<Chain, Writes>();
const nameOf = (address: Uint8Array) => Buffer.from(address).toString('latin1');

function writesOf(chain: Chain): Writes {
  const writes = known.get(chain) ?? { next: chain.firstSlot, byAddress: new Map() };
  known.set(chain, writes);
  for (; writes.next <= chain.tip().slot; writes.next += 1n) {
    const block = chain.block(writes.next);
    if (block === null) continue;
    const time = chain.timeOf(writes.next);
    for (const { address, owner, data } of block.writes) {
      const state = createHash('sha1').update(owner).update(data).digest('base64');
      const name = nameOf(address);
      const before = writes.byAddress.get(name);
      if (before === undefined) writes.byAddress.set(name, [{ time, state }]);
      else before.push({ time, state });
    }
  }
  return writes;
}

/** Whether an account was at that time, as it is served, what it is now. */
export function wasAsNow({ chain }: View, address: string, time: unknown): boolean {
  const all = writesOf(chain).byAddress.get(nameOf(decodeBase58(address) as Uint8Array)) ?? [];
  const seconds = Date.parse(String(time)) / 1000;
  const now = all.at(-1)?.state;
  // Several blocks have the same second.
  return all.some(
    (write, at) => write.state === now && write.time <= seconds && (all[at + 1]?.time ?? seconds) >= seconds,
  );
}
