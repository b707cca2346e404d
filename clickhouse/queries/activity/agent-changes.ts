import type { Store } from '../../client.ts';
import { sharedRows } from '../../shared-reads.ts';

const keyOf = (mint: string, after: bigint) => `${mint} ${after}`;

interface Change {
  key: string;
  /** Of the newest change behind the slot that was asked about. */
  slot: string;
}

const changesBehind = sharedRows<Change>('key', async (store, keys) => {
  const asked = keys.map((key) => {
    const [mint = '', after = ''] = key.split(' ');
    return { key, mint, after: BigInt(after) };
  });
  const [after = 0n] = asked.map((one) => one.after).sort((one, other) => (one < other ? -1 : 1));
  const rows = await store.query<{ mint: string; slot: string }>(
    `SELECT mint, max(slot) AS slot
     FROM (SELECT mint, slot, kind, summary FROM events FINAL
           WHERE mint IN {mints:Array(String)} AND slot > {after:UInt64})
     WHERE kind = 'AgentSet' AND JSONExtractString(summary, 'oldAgent') != JSONExtractString(summary, 'newAgent')
     GROUP BY mint`,
    { mints: [...new Set(asked.map(({ mint }) => mint))], after },
  );
  const newest = new Map(rows.map(({ mint, slot }) => [mint, slot]));
  return asked.flatMap(({ key, mint, after }) => {
    const slot = newest.get(mint);
    return slot !== undefined && BigInt(slot) > after ? [{ key, slot }] : [];
  });
});

/** The slot of the newest change of a policy's agent behind another slot; null where the index holds none. */
export async function agentChangedBehind(store: Store, mint: string, after: bigint): Promise<bigint | null> {
  const key = keyOf(mint, after);
  const found = (await changesBehind(store, [key])).get(key);
  return found === undefined ? null : BigInt(found.slot);
}
