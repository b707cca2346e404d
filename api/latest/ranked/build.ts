import type { Store } from '../../../clickhouse/client.ts';
import { type RankedPolicy, rankedPolicyKeysAfter } from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { policyCount } from '../../../clickhouse/queries/ranking/ranking.ts';
import { addLoad, noRows, type Rows } from './apply.ts';
import { loadStretch, PIECE, type RankedLoad, type RankedNeed } from './load.ts';

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

/** Policies of a piece, and what else they have. */
interface Piece {
  found: readonly RankedPolicy[];
  last: string;
  others: Promise<Omit<RankedLoad, 'policies'>>;
}

/** Policy by policy in the order of their addresses, a piece of them at a time; the next is read while one is put in place. */
async function read(
  store: Store,
  { launchpad }: RankedNeed,
  now: number,
  most: number,
): Promise<{ rows: Rows } | 'too many'> {
  if ((await policyCount(store)) > most) return 'too many';
  const begin = async (after: string): Promise<Piece | null> => {
    const found = await rankedPolicyKeysAfter(store, after, PIECE);
    const last = found.at(-1)?.address;
    if (last === undefined) return null;
    const others = loadStretch(store, { after, last }, { launchpad, now });
    // They fail where they are waited for, here and below.
    others.catch(() => {});
    return { found, last, others };
  };
  const rows = noRows();
  let piece = await begin('');
  while (piece !== null) {
    const { found, last, others } = piece;
    const next = begin(last);
    next.catch(() => {});
    addLoad(rows, { policies: { keys: [], found }, ...(await others) }, now);
    piece = await next;
  }
  return { rows };
}
