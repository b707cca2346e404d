import type { Store } from '../../clickhouse/client.ts';
import type { Keys } from './cells.ts';
import type { Loaded } from './kind.ts';
import { KINDS, type KindName } from './kinds.ts';

/** By kind: the keys that were asked for, and what was found or why nothing could be. */
export type LoadedKeys = Map<
  KindName,
  { keys: ReadonlySet<string>; values: ReadonlyMap<string, Loaded<unknown>>; error?: unknown }
>;

/** One question for all the keys of a kind; a kind that fails takes no other with it. */
export async function loadKeys(store: Store, keys: Keys, now: number): Promise<LoadedKeys> {
  const loads = [...keys].map(
    async ([kind, wanted]): Promise<
      [KindName, LoadedKeys extends Map<KindName, infer One> ? One : never]
    > => {
      try {
        return [kind, { keys: wanted, values: await KINDS[kind].load(store, [...wanted], now) }];
      } catch (error) {
        return [kind, { keys: wanted, values: new Map(), error }];
      }
    },
  );
  return new Map(await Promise.all(loads));
}
