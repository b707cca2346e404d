import { createHash } from 'node:crypto';
import { encodeRow, ownerOf } from '../../../devnet/bytes/account.ts';
import type { BlockChanges, Chain } from '../../../devnet/chain/chain.ts';
import type { Key, TableName, Tables } from '../../../devnet/program/state/state.ts';
import type { View } from './view.ts';

interface Writes {
  /** How many blocks are in it. */
  blocks: number;
  /** By address: when each state was written, in order. */
  byAddress: Map<Key, Written>;
}

interface Written {
  /** Whether the program owns it. */
  ours: boolean;
  states: { time: number; state: string }[];
}

const OURS: readonly TableName[] = ['configs', 'origins', 'models', 'policies', 'venues'];

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
      if (before === undefined)
        byAddress.set(address, { ours: OURS.includes(table), states: [{ time, state }] });
      else before.states.push({ time, state });
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
  const all = writesOf(chain).byAddress.get(address)?.states ?? [];
  const seconds = Date.parse(String(time)) / 1000;
  const now = all.at(-1)?.state;
  // Several blocks have the same second.
  return all.some(
    (write, at) => write.state === now && write.time <= seconds && (all[at + 1]?.time ?? seconds) >= seconds,
  );
}

/**
 * When what an account is now was written, oldest first: more than once where a write left it as it was. Null where the
 * index may have read that, not been told of it: what nobody knew when it was made is read, but for the program's own.
 */
export function toldAt({ chain, now, watchedSince }: View, address: string): number[] | null {
  const watched = watchedSince(now + 1);
  const written = writesOf(chain).byAddress.get(address);
  if (watched === null || written === undefined) return null;
  const { ours, states } = written;
  const other = states.findLastIndex(({ state }) => state !== states.at(-1)?.state);
  const times = states.slice(other + 1).map(({ time }) => time);
  const [made, changed] = [states[0]?.time ?? 0, times[0] ?? 0];
  // Blocks behind that share its second: what was made in one of them nobody knew.
  return changed > watched && (ours || made < watched) ? times : null;
}
