import type { Store } from '../../client.ts';
import { sharedRows } from '../../shared-reads.ts';

const keyOf = (mint: string, after: bigint) => `${mint} ${after}`;

interface Change {
  key: string;
  /** Slot of the newest change behind the slot that was asked about. */
  slot: string;
}

const changesBehind = sharedRows<Change>('key', async (store, keys) => {
  const asked = keys.map((key) => {
    const [mint = '', after = ''] = key.split(' ');
    return { key, mint, after: BigInt(after) };
  });
  const [after = 0n] = asked.map((one) => one.after).sort((one, other) => (one < other ? -1 : 1));
  const mints = await mintsWithAny(store, [...new Set(asked.map(({ mint }) => mint))], after);
  const newest = mints.length === 0 ? new Map<string, string>() : await newestOf(store, mints, after);
  return asked.flatMap(({ key, mint, after }) => {
    const slot = newest.get(mint);
    return slot !== undefined && BigInt(slot) > after ? [{ key, slot }] : [];
  });
});

/** The mints with any row that may be a change: nearly always none, and to find that out costs half as much. */
async function mintsWithAny(store: Store, mints: string[], after: bigint): Promise<string[]> {
  const rows = await store.query<{ mint: string }>(
    `SELECT mint FROM events
     WHERE mint IN {mints:Array(String)} AND slot > {after:UInt64} AND kind = 'AgentSet'
     LIMIT 1 BY mint`,
    { mints, after },
  );
  return rows.map(({ mint }) => mint);
}

/**
 * Where logs were cut an event may stand for several changes, and then names no agent: it counts as a change, though
 * they may have led back to the first agent.
 */
async function newestOf(store: Store, mints: string[], after: bigint): Promise<Map<string, string>> {
  const rows = await store.query<{ mint: string; slot: string }>(
    `SELECT mint, max(slot) AS slot
     FROM (SELECT mint, slot, kind, summary FROM events FINAL
           WHERE mint IN {mints:Array(String)} AND slot > {after:UInt64})
     WHERE kind = 'AgentSet' AND (JSONExtractString(summary, 'newAgent') = ''
       OR JSONExtractString(summary, 'oldAgent') != JSONExtractString(summary, 'newAgent'))
     GROUP BY mint`,
    { mints, after },
  );
  return new Map(rows.map(({ mint, slot }) => [mint, slot]));
}

/** The slot of the newest change of a policy's agent behind another slot; null where the index holds none. */
export async function agentChangedBehind(store: Store, mint: string, after: bigint): Promise<bigint | null> {
  const key = keyOf(mint, after);
  const found = (await changesBehind(store, [key])).get(key);
  return found === undefined ? null : BigInt(found.slot);
}
