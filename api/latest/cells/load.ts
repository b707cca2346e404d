import type { Changes } from '../../../clickhouse/changes.ts';
import type { Store } from '../../../clickhouse/client.ts';
import type { Kind, Loaded } from '../kinds/kind.ts';
import { KINDS, type KindName } from '../kinds/kinds.ts';
import type { Cells, Keys } from './cells.ts';

/** By kind: the keys that were asked for, and what was found or why nothing could be. */
export type LoadedKeys = Map<
  KindName,
  { keys: ReadonlySet<string>; values: ReadonlyMap<string, Loaded<unknown>>; error?: unknown }
>;

/**
 * One question for all the keys of a kind; a kind that fails takes no other with it.
 * @param known what stands in memory, and what has changed since
 */
export async function loadKeys(
  store: Store,
  keys: Keys,
  now: number,
  known?: { cells: Cells; changes: Changes | null },
): Promise<LoadedKeys> {
  const loads = [...keys].map(
    async ([kind, wanted]): Promise<
      [KindName, LoadedKeys extends Map<KindName, infer One> ? One : never]
    > => {
      try {
        const values =
          (await refreshed(store, kind, known)) ?? (await KINDS[kind].load(store, [...wanted], now));
        return [kind, { keys: wanted, values }];
      } catch (error) {
        return [kind, { keys: wanted, values: new Map(), error }];
      }
    },
  );
  return new Map(await Promise.all(loads));
}

/** What was found for a key: null may be that, and is not the same as nothing. */
export function foundFor(
  kind: KindName,
  key: string,
  values: ReadonlyMap<string, Loaded<unknown>>,
): Loaded<unknown> {
  return values.get(key) ?? { value: KINDS[kind].none, until: Number.POSITIVE_INFINITY };
}

/** Null where it has to be read whole. */
async function refreshed(
  store: Store,
  name: KindName,
  known: { cells: Cells; changes: Changes | null } | undefined,
): Promise<Map<string, Loaded<unknown>> | null> {
  const { refresh } = KINDS[name] as Kind<unknown>;
  const cell = known?.cells.peek(name, '');
  if (refresh === undefined || cell === undefined || known?.changes == null) return null;
  return new Map([['', await refresh(store, cell.value, known.changes)]]);
}
