import type { Store } from '../../../clickhouse/client.ts';
import { eventsOfDay } from '../../../clickhouse/queries/ranking/day-windows.ts';
import {
  type AddressRange,
  addressRangesBetween,
} from '../../../clickhouse/queries/ranking/policy-selection.ts';
import {
  policyRangeEnds,
  rankedAccounts,
  rankedPolicies,
  rankedPools,
  rankedSums,
  rankedTokens,
} from '../../../clickhouse/queries/ranking/ranked-keys.ts';
import { policyCount } from '../../../clickhouse/queries/ranking/ranking.ts';
import { ask, askInLines } from '../../../clickhouse/question.ts';
import { eachYielding } from '../../../runtime/yielding.ts';
import { addPolicy, noRows, type Rows } from './apply.ts';
import { PIECE, type RankedNeed } from './load.ts';
import { type RankedRow, setAccount, setPool, setSums, setToken, setWindow } from './row.ts';

/** All rows, read beside the turns; what changes meanwhile is read again before they are served. */
export interface Build {
  need: RankedNeed;
  /** Null while the build is under way. */
  result: { rows: Rows } | 'too many' | { error: unknown } | null;
  /** Never fails. */
  done: Promise<void>;
}

/**
 * @param most with more policies than this none are read
 * @param piece policies per range
 */
export function startBuild(store: Store, need: RankedNeed, now: number, most: number, piece = PIECE): Build {
  const build: Build = { need, result: null, done: Promise.resolve() };
  build.done = read(store, need, now, most, piece).then(
    (result) => {
      build.result = result;
    },
    (error) => {
      build.result = { error };
    },
  );
  return build;
}

/** The first range is shorter by this factor: nothing can be put in place before it has been read. */
const FIRST_PART = 5;

/** The queries for one range of policies, under way; an error comes up where its query is awaited. */
type Asked = ReturnType<typeof askRange>;

/** Reads a range of policies at a time; the next is read while one is put in place. */
async function read(
  store: Store,
  { launchpad }: RankedNeed,
  now: number,
  most: number,
  piece: number,
): Promise<{ rows: Rows } | 'too many'> {
  const part = Math.ceil(piece / FIRST_PART);
  const [count, ends] = await Promise.all([policyCount(store), ask(store, policyRangeEnds(part))]);
  if (count > most) return 'too many';
  const ranges = addressRangesBetween(
    ends.filter((_, at) => at % FIRST_PART === 0).map(({ address }) => address),
  );
  const begin = (at: number): Asked | null => {
    const range = ranges[at];
    return range === undefined ? null : askRange(store, range, launchpad, now);
  };
  const rows = noRows();
  let asked = begin(0);
  for (let at = 1; asked !== null; at += 1) {
    const [, ...others] = Object.values(asked);
    const next: Promise<Asked | null> = Promise.all(others).then(() => begin(at));
    next.catch(() => {});
    await putAll(rows, asked, now);
    asked = await next;
  }
  return { rows };
}

function askRange(store: Store, range: AddressRange, launchpad: string, now: number) {
  const asked = {
    policies: askInLines(store, rankedPolicies(range)),
    pools: askInLines(store, rankedPools(launchpad, [], range)),
    accounts: askInLines(store, rankedAccounts(range)),
    sums: askInLines(store, rankedSums(range)),
    tokens: askInLines(store, rankedTokens(range)),
    windows: eventsOfDay(store, range, Math.floor(now / 1000)),
  };
  for (const one of Object.values<Promise<unknown>>(asked)) one.catch(() => {});
  return asked;
}

/** Puts what was read into rows that no reader has seen yet. */
async function putAll(rows: Rows, asked: Asked, now: number): Promise<void> {
  const { byBankroll, byPool } = rows;
  const added: RankedRow[] = [];
  await putEach(asked.policies, (policy) => added.push(addPolicy(rows, policy)));
  await putEach(asked.accounts, (account) => {
    const row = byBankroll.get(account.address);
    if (row !== undefined) setAccount(row, account);
  });
  const ofSums = alongside(rows, added);
  await putEach(asked.sums, (sums) => {
    const row = ofSums(sums.mint);
    if (row !== undefined) setSums(row, sums);
  });
  const ofToken = alongside(rows, added);
  await putEach(asked.tokens, (token) => {
    const row = ofToken(token.address);
    if (row !== undefined) setToken(row, token);
  });
  await putEach(asked.windows, ([mint, window]) => {
    const row = rows.byMint.get(mint);
    if (row !== undefined) setWindow(row, window, now);
  });
  const ofPool = alongside(rows, added);
  await putEach(asked.pools, (pool) => {
    const row = ofPool(pool.base_mint);
    if (row?.quote !== pool.quote_mint) return;
    byPool.set(pool.address, row);
    setPool(row, pool);
  });
}

async function putEach<Found>(asked: Promise<Iterable<Found>>, put: (one: Found) => void): Promise<void> {
  await eachYielding(await asked, put);
}

/** Finds the row of a mint: without looking it up where mints come in the order in which the rows were added. */
function alongside({ byMint }: Rows, added: readonly RankedRow[]): (mint: string) => RankedRow | undefined {
  let at = 0;
  return (mint) => {
    while (at < added.length && (added[at] as RankedRow).mint < mint) at += 1;
    const row = added[at];
    return row?.mint === mint ? row : byMint.get(mint);
  };
}
