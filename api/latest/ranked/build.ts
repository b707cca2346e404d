import type { Store } from '../../../clickhouse/client.ts';
import { rankedPolicyKeysAfter } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { policyCount } from '../../../clickhouse/queries/ranking/ranking.ts';
import { applyLoad, noRows, type Rows } from './apply.ts';
import { loadStretch, PIECE, type RankedNeed } from './load.ts';

/** All rows as they are read beside the turns; what changes meanwhile is read again before they are shown. */
export interface Build {
  need: RankedNeed;
  /** Null while it is under way. */
  result: { rows: Rows } | 'too many' | { error: unknown } | null;
  /** Never fails. */
  done: Promise<void>;
}

/** @param most of more policies none are read */
export function startBuild(store: Store, need: RankedNeed, now: number, most: number): Build {
  const build: Build = { need, result: null, done: Promise.resolve() };
  build.done = read(store, need, now, most).then(
    (result) => {
      build.result = result;
    },
    (error) => {
      build.result = { error };
    },
  );
  return build;
}

/** Policy by policy in the order of their addresses, a piece of them at a time. */
async function read(
  store: Store,
  { launchpad }: RankedNeed,
  now: number,
  most: number,
): Promise<{ rows: Rows } | 'too many'> {
  if ((await policyCount(store)) > most) return 'too many';
  const rows = noRows();
  for (let after = ''; ; ) {
    const found = await rankedPolicyKeysAfter(store, after, PIECE);
    const last = found.at(-1)?.address;
    if (last === undefined) return { rows };
    const policies = { keys: [], found };
    applyLoad(rows, { policies, ...(await loadStretch(store, { after, last }, { launchpad, now })) }, now);
    after = last;
  }
}
