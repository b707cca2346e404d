import type { Policy } from '../../../devnet/program/state/state.ts';
import {
  type RankingFilters,
  type RankingRow,
  SORTS,
  type Sort,
} from '../../../schemas/responses/rankings.ts';
import {
  type Answer,
  absent,
  anything,
  balance,
  eventSum,
  figure,
  iso,
  newestTime,
  readAt,
  text,
} from './expected.ts';
import { marketCapBlock, marketCapOf } from './market-cap.ts';
import { metadataOf, modelBlock, quoteColumns } from './names.ts';
import { lastDay, ofKind, total, type View } from './view.ts';

type Key = (view: View, policy: Policy) => bigint | null;

const bankrollOf = ({ chain }: View, policy: Policy) => chain.addresses.ofPolicy(policy.mint).bankroll;

/** What each sort ranks by, in its own unit: base units where it is money, else a count or a time; null: absent. */
const KEYS: Record<Sort, { key: Key; isMoney: boolean }> = {
  marketCap: { key: marketCapOf, isMoney: true },
  profit: { key: (_, policy) => policy.profitSwept, isMoney: true },
  fees: {
    key: (view, { mint }) => total(ofKind(view.eventsOf(mint), 'Routed'), 'amount'),
    isMoney: true,
  },
  burned: { key: (_, policy) => policy.paidToHolders, isMoney: true },
  bankroll: {
    key: (view, policy) => view.state.tokens.get(bankrollOf(view, policy))?.amount ?? null,
    isMoney: true,
  },
  activity: { key: (view, { mint }) => BigInt(lastDay(view, view.eventsOf(mint)).length), isMoney: false },
  newest: { key: (_, policy) => policy.createdAt, isMoney: false },
};

interface Filter {
  values(view: View): readonly (string | number | boolean)[];
  passes(policy: Policy, value: string, view: View): boolean;
}

const MODE_NAMES = ['Passive', 'Agent'];

const FILTERS: Record<keyof RankingFilters, Filter> = {
  mode: { values: () => MODE_NAMES, passes: ({ mode }, value) => MODE_NAMES[mode] === value },
  origin: {
    values: () => [1, 2, 3, 4, 5, 6, 99],
    passes: ({ originId }, value) => String(originId) === value,
  },
  model: {
    values: () => [0, 1, 2, 3, 7, 300],
    passes: ({ mode, modelId }, value) => String(mode === 0 ? 0 : modelId) === value,
  },
  quote: {
    values: ({ policies }) => [...new Set(policies.map(({ quoteMint }) => quoteMint))],
    passes: ({ quoteMint }, value) => quoteMint === value,
  },
  locked: { values: () => [true, false], passes: ({ locked }, value) => String(locked) === value },
  paused: { values: () => [true, false], passes: ({ paused }, value) => String(paused) === value },
  search: {
    values: ({ policies: [first] }) => ['a', 'EL', (first?.mint ?? '').slice(0, 5)],
    passes: ({ mint }, value, view) => {
      const names = metadataOf(view, mint)?.metadata;
      const isNamed = [names?.name, names?.symbol].some((name) =>
        (name ?? '').toLowerCase().includes(value.toLowerCase()),
      );
      return isNamed || mint.startsWith(value);
    },
  },
};

export interface Ranking {
  query: string;
  mints: string[];
}

function ranked(
  view: View,
  sort: Sort,
  order: string,
  policies: readonly Policy[],
  isPriced: boolean,
): string[] {
  const rule = KEYS[sort];
  const sign = order === 'asc' ? -1 : 1;
  return policies
    .map((policy) => ({ mint: policy.mint, key: rule.isMoney && !isPriced ? null : rule.key(view, policy) }))
    .sort((a, b) => {
      if (a.key !== b.key && a.key !== null && b.key !== null) return a.key < b.key ? sign : -sign;
      if (a.key !== b.key) return a.key === null ? 1 : -1;
      return a.mint < b.mint ? -1 : 1;
    })
    .map(({ mint }) => mint);
}

const ORDERS = ['desc', 'asc'] as const;

/** Every sort in both orders over all policies. */
export function orderings(view: View): Ranking[] {
  // Without prices amounts of different quote assets do not compare: money sorts are absent for every row.
  const sorts = SORTS.filter((sort) => !view.polled || !KEYS[sort].isMoney);
  return sorts.flatMap((sort) =>
    ORDERS.map((order) => ({
      query: `sort=${sort}&order=${order}`,
      mints: ranked(view, sort, order, view.policies, false),
    })),
  );
}

/** The same, and every sort over the policies of each quote asset, and every filter. */
export function rankings(view: View): Ranking[] {
  const { policies } = view;
  const found = orderings(view);
  for (const sort of SORTS) {
    for (const order of ORDERS) {
      const query = `sort=${sort}&order=${order}`;
      for (const quote of new Set(policies.map(({ quoteMint }) => quoteMint))) {
        const own = policies.filter(({ quoteMint }) => quoteMint === quote);
        found.push({ query: `${query}&quote=${quote}`, mints: ranked(view, sort, order, own, true) });
      }
    }
  }
  const filtered = (query: string, passes: (policy: Policy) => boolean) => {
    const own = policies.filter(passes);
    found.push({ query: `sort=newest&${query}`, mints: ranked(view, 'newest', 'desc', own, false) });
  };
  for (const [name, { values, passes }] of Object.entries(FILTERS)) {
    for (const value of values(view))
      filtered(`${name}=${value}`, (policy) => passes(policy, String(value), view));
  }
  for (const flag of [true, false])
    filtered(`locked=${flag}&mode=Agent`, ({ locked, mode }) => locked === flag && mode === 1);
  return found;
}

/** A row of the rankings without its rank. */
export function rankingRow(view: View, policy: Policy): Answer<Omit<RankingRow, 'rank'>> {
  const events = view.eventsOf(policy.mint);
  const day = lastDay(view, events);
  const names = metadataOf(view, policy.mint)?.metadata;
  const asOf = readAt(view, policy.address);
  const usd = view.polled ? anything : absent('computed');
  return {
    mint: policy.mint,
    mintName: names?.name ?? null,
    mintSymbol: names?.symbol ?? null,
    mintImageUrl: view.polled ? anything : null,
    ...quoteColumns(view, policy.quoteMint),
    mode: policy.mode === 0 ? 'Passive' : 'Agent',
    origin: { id: policy.originId, name: view.state.origins.get(policy.origin)?.name },
    model: modelBlock(view, policy),
    risk: policy.risk,
    locked: policy.locked,
    paused: policy.paused,
    marketCap: marketCapBlock(view, policy),
    profit: figure(policy.profitSwept, text, asOf),
    fees: eventSum(view, ofKind(events, 'Routed'), 'amount'),
    burned: figure(policy.tokensBurned, text, asOf),
    bankroll: balance(view, bankrollOf(view, policy)),
    usd: { profit: usd, fees: usd, bankroll: usd } satisfies Answer<RankingRow['usd']>,
    eventsLast24h: figure(day.length, text, newestTime(view, day)),
    createdAt: iso(policy.createdAt),
  };
}
