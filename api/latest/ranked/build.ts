import type { Store } from '../../../clickhouse/client.ts';
import { eventsOfDay } from '../../../clickhouse/queries/ranking/day-windows.ts';
import {
  rankedBalances,
  rankedCaps,
  rankedFees,
  rankedNames,
  rankedPolicyKeysAfter,
} from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { policyCount } from '../../../clickhouse/queries/ranking/ranking.ts';
import { applyLoad, noRows, type Rows } from './apply.ts';
import type { RankedLoad, RankedNeed } from './load.ts';

/** All rows as they are read beside the turns; what changes meanwhile is read again before they are shown. */
export interface Build {
  need: RankedNeed;
  /** Null while it is under way. */
  result: { rows: Rows } | 'too many' | { error: unknown } | null;
  /** Never fails. */
  done: Promise<void>;
}

/** Policies whose rows are made without a pause. */
const PIECE = 10_000;

const NOTHING: RankedLoad = {
  policies: { keys: [], found: [] },
  caps: { keys: [], found: [] },
  balances: { keys: [], found: [] },
  fees: { keys: [], found: [] },
  names: { keys: [], found: [] },
  events: null,
};

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

/** One question after the other: others have their turn between two of them. */
async function read(
  store: Store,
  { launchpad, events }: RankedNeed,
  now: number,
  most: number,
): Promise<{ rows: Rows } | 'too many'> {
  if ((await policyCount(store)) > most) return 'too many';
  const rows = noRows();
  const put = (part: Partial<RankedLoad>) => void applyLoad(rows, { ...NOTHING, ...part });
  for (let after: string | undefined = ''; after !== undefined; ) {
    const found = await rankedPolicyKeysAfter(store, after, PIECE);
    put({ policies: { keys: [], found } });
    after = found.length < PIECE ? undefined : found.at(-1)?.address;
  }
  put({ caps: { keys: [], found: await rankedCaps(store, launchpad, null, []) } });
  put({ balances: { keys: null, found: await rankedBalances(store, null) } });
  put({ fees: { keys: null, found: await rankedFees(store, null) } });
  put({ names: { keys: null, found: await rankedNames(store, null) } });
  if (events) put({ events: { keys: null, found: await eventsOfDay(store, null, Math.floor(now / 1000)) } });
  return { rows };
}
