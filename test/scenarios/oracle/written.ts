import { createHash } from 'node:crypto';
import { encodeRow, ownerOf } from '../../../devnet/bytes/account.ts';
import type { BlockChanges, Chain } from '../../../devnet/chain/chain.ts';
import type { Key, TableName, Tables } from '../../../devnet/program/state/state.ts';
import type { View } from './view.ts';

interface Writes {
  /** How many blocks were taken in. */
  blocks: number;
  /** When each state of an address was written, in order. */
  byAddress: Map<Key, Written>;
}

interface Written {
  /** Whether the program owns the account. */
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

/** Whether an account's state at a served time was the one that it has now. */
export function hadPresentStateAt({ chain }: View, address: string, time: unknown): boolean {
  const all = writesOf(chain).byAddress.get(address)?.states ?? [];
  const seconds = Date.parse(String(time)) / 1000;
  const now = all.at(-1)?.state;
  // Several blocks share a second, so both ends count.
  return all.some(
    (write, at) => write.state === now && write.time <= seconds && (all[at + 1]?.time ?? seconds) >= seconds,
  );
}

/**
 * The times at which an account's present state was written, oldest first; several where writes did not change it. Null
 * where the index may have read that state over RPC instead of from the stream. An account that was not followed when
 * it was made is read over RPC, unless the program owns it.
 */
export function streamedTimesOf({ chain, now, watchedSince }: View, address: string): number[] | null {
  const watched = watchedSince(now + 1);
  const written = writesOf(chain).byAddress.get(address);
  if (watched === null || written === undefined) return null;
  const { ours, states } = written;
  const other = states.findLastIndex(({ state }) => state !== states.at(-1)?.state);
  const times = states.slice(other + 1).map(({ time }) => time);
  const [made, changed] = [states[0]?.time ?? 0, times[0] ?? 0];
  // Both strict: a later block of the second `watched` may have written this, or made an account not followed yet.
  return changed > watched && (ours || made < watched) ? times : null;
}
