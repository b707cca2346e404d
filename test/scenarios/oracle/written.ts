import { createHash } from 'node:crypto';
import { encodeRow, ownerOf } from '../../../devnet/bytes/account.ts';
import type { BlockChanges, Chain } from '../../../devnet/chain/chain.ts';
import type { Key, TableName, Tables } from '../../../devnet/program/state/state.ts';
import type { View } from './view.ts';

interface Writes {
  /** How many blocks are in it. */
  blocks: number;
  /** By address: when each state was written, in order. */
  byAddress: Map<Key, { time: number; state: string }[]>;
}

const known = new WeakMap<Chain, Writes>();

function writesOf(chain: Chain): Writes {
  const writes = known.get(chain) ?? { blocks: 0, byAddress: new Map() };
  known.set(chain, writes);
  for (const block of chain.changes(writes.blocks)) {
    add(writes.byAddress, block, chain.programId);
    writes.blocks += 1;
  }
  return writes;
}

function add(byAddress: Writes['byAddress'], { blockTime: time, rows }: BlockChanges, programId: Key): void {
  for (const [table, changed] of Object.entries(rows) as [TableName, Map<Key, Tables[TableName] | null>][]) {
    for (const [address, value] of changed) {
      const state = value === null ? 'closed' : stateOf(table, value, programId);
      const before = byAddress.get(address);
      if (before === undefined) byAddress.set(address, [{ time, state }]);
      else before.push({ time, state });
    }
  }
}

function stateOf(table: TableName, value: Tables[TableName], programId: Key): string {
  return createHash('sha1')
    .update(ownerOf(table, value, programId))
    .update(encodeRow(table, value))
    .digest('base64');
}

/** Whether an account was at that time, as it is served, what it is now. */
export function wasAsNow({ chain }: View, address: string, time: unknown): boolean {
  const all = writesOf(chain).byAddress.get(address) ?? [];
  const seconds = Date.parse(String(time)) / 1000;
  const now = all.at(-1)?.state;
  // Several blocks have the same second.
  return all.some(
    (write, at) => write.state === now && write.time <= seconds && (all[at + 1]?.time ?? seconds) >= seconds,
  );
}
