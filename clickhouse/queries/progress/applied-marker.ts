import type { Store } from '../../client.ts';

/** A text that changes whenever a materialiser has applied something. */
export async function appliedMarker(store: Store): Promise<string> {
  const [row] = await store.query<{ marker: string }>(
    `SELECT concat(toString(count()), '.', toString(sum(log_offset)), '.', toString(max(applied_at))) AS marker
     FROM applied FINAL`,
    {},
  );
  return row?.marker ?? '';
}
