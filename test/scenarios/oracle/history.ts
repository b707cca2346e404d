import { LOCAL, type Policy, REMOTE, type VenueAccount } from '../../../devnet/program/state/state.ts';
import { named, ofOtherAssets, venuesOf } from './coin.ts';
import { absent, anything, between, type Figure, figure, iso, Matching, text } from './expected.ts';
import { capOf } from './market-cap.ts';
import { decimalsOf } from './names.ts';
import { type Past, pastOf } from './past.ts';
import type { View } from './view.ts';

export type Step = 'hour' | 'day';

const SECONDS: Record<Step, number> = { hour: 3_600, day: 86_400 };
const BALANCE = 'chain:getTokenAccountBalance';

/** The query and the answer of a history from the chain's first second on. */
function framed(view: View, step: Step, itemAt: (end: number, isNow: boolean) => object | null) {
  const length = SECONDS[step];
  const from = Math.floor(view.chain.genesisMs / 1000 / length) * length;
  const items: object[] = [];
  for (let end = from + length; end <= view.now; end += length) {
    const item = itemAt(end, false);
    if (item !== null) items.push({ time: iso(end), ...item });
  }
  const last = Math.floor(view.now / length) * length;
  if (view.now > last) items.push({ time: iso(view.now), ...itemAt(view.now + 1, true) });
  return {
    query: `step=${step}&from=${Math.floor(view.chain.genesisMs / 1000)}`,
    answer: { from: iso(from), to: iso(Math.max(view.now, from)), step, items },
  };
}

/** A figure that the index may lack: either absent with a reason, or this one. */
function perhaps(wanted: Figure): Matching {
  return new Matching(`${JSON.stringify(wanted)} or absent`, (given) => {
    const served = given as Figure;
    if (served.absent === true)
      return served.value === null && served.asOf === null && text.test(served.reason);
    const same = (mine: unknown, theirs: unknown) =>
      mine instanceof Matching ? mine.test(theirs) : mine === theirs;
    return (
      same(wanted.value, served.value) && same(wanted.source, served.source) && same(wanted.asOf, served.asOf)
    );
  });
}

/** A policy's figures at a moment, as the chain has them; null: absent. */
interface Truth {
  hwm: bigint;
  feesClaimed: bigint;
  profitSwept: bigint;
  tokensBurned: bigint;
  bankroll: bigint | null;
  deployed: bigint | null;
  attested: bigint | null;
  /** The oldest attestation's time; null where there is none. */
  attestedAt: number | null;
  /**
   * Latest time that `deployed` may have: an attestor's clock may be ahead of the chain's. Null: no accounts count,
   * or no Local ones do and a Remote one was never attested.
   */
  deployedBy: number | null;
  cap: bigint | null;
  /** Whether the index must know the states by then: of the policy, of its venue accounts, of its pool. */
  told: { policy: boolean; venues: boolean; pool: boolean };
}

function truthOf(
  view: View,
  past: Past,
  venues: readonly string[],
  policy: Policy,
  end: number,
): Truth | null {
  const was = past.at('policies', policy.address, end);
  if (was === null) return null;
  const unrevoked = venues
    .map((address) => past.at('venues', address, end))
    .filter((venue): venue is VenueAccount => venue !== null && !venue.revoked);
  const local = unrevoked
    .filter(({ kind }) => kind === LOCAL)
    .map(({ tokenAccount }) => past.at('tokens', tokenAccount, end)?.amount ?? null);
  const remote = unrevoked.filter(({ kind }) => kind === REMOTE);
  const isAttested = remote.every(({ remoteAsof }) => remoteAsof !== 0n);
  const attested = isAttested ? remote.reduce((sum, { remoteEquity }) => sum + remoteEquity, 0n) : null;
  const asofs = remote.map(({ remoteAsof }) => Number(remoteAsof));
  const attestedAt = asofs.length === 0 || !isAttested ? null : Math.min(...asofs);
  const pool = view.chain.addresses.pool(policy.mint, policy.quoteMint);
  const bankroll = view.chain.addresses.ofPolicy(policy.mint).bankroll;
  const watched = view.watchedSince(end);
  const isTold = (table: 'policies' | 'venues' | 'pools' | 'tokens', address: string) => {
    const since = past.since(table, address);
    return watched !== null && (since === null || since < watched || since >= end);
  };
  return {
    ...{ hwm: was.hwm, feesClaimed: was.feesClaimed, profitSwept: was.profitSwept },
    tokensBurned: was.tokensBurned,
    bankroll: past.at('tokens', bankroll, end)?.amount ?? null,
    attested,
    deployed:
      attested === null || local.includes(null)
        ? null
        : (local as bigint[]).reduce((sum, amount) => sum + amount, attested),
    attestedAt,
    deployedBy: local.length > 0 ? end : attestedAt,
    cap: capOf(past.at('pools', pool, end), (config) => past.at('curves', config, end)?.curveType),
    told: {
      policy: isTold('policies', policy.address),
      venues: isTold('policies', policy.address) && venues.every((address) => isTold('venues', address)),
      pool: isTold('pools', pool) && isTold('policies', policy.address),
    },
  };
}

const upTo = (end: number) => between(0, end);
const sure = (is: boolean, wanted: Figure) => (is ? wanted : perhaps(wanted));

function figures(truth: Truth, end: number, isNow: boolean): object {
  const { told } = truth;
  const state = (is: boolean, value: bigint | null, source: unknown, asOf: unknown = upTo(end)) =>
    sure(is || isNow, value === null ? absent(source) : figure(value, source, asOf));
  // Never absent: where the account's state is not known, the sum of events is served.
  const counter = (value: bigint) => figure(value, text, upTo(end));
  return {
    bankroll: state(told.policy, truth.bankroll, BALANCE),
    deployed: state(told.venues, truth.deployed, 'computed', upTo(Math.max(end, truth.deployedBy ?? 0))),
    attestedEquity: state(
      told.venues,
      truth.attested,
      'chain:VenueAccount.remote_equity',
      truth.attestedAt === null ? upTo(end) : iso(truth.attestedAt),
    ),
    hwm: state(told.policy, truth.hwm, 'chain:Policy.hwm'),
    feesClaimed: counter(truth.feesClaimed),
    profitSwept: counter(truth.profitSwept),
  };
}

/** The venue accounts that each policy ever had. */
function venuesByPolicy(past: Past): Map<string, string[]> {
  const venues = new Map<string, string[]>();
  for (const address of past.addresses('venues')) {
    const policy = past.at('venues', address, Number.POSITIVE_INFINITY)?.policy;
    if (policy !== undefined) venues.set(policy, [...(venues.get(policy) ?? []), address]);
  }
  return venues;
}

/** `GET /coins/:mint/history` */
export function coinHistory(view: View, policy: Policy, step: Step): { query: string; answer: object } {
  const past = pastOf(view.chain);
  const venues = venuesByPolicy(past).get(policy.address) ?? [];
  const { query, answer } = framed(view, step, (end, isNow) => {
    if (!isNow && Number(policy.createdAt) >= end) return null;
    const truth = truthOf(view, past, venues, policy, end);
    if (truth === null) return null;
    const cap = truth.cap === null ? absent('computed') : figure(truth.cap, 'computed', upTo(end));
    return {
      ...figures(truth, end, isNow),
      tokensBurned: figure(truth.tokensBurned, text, upTo(end)),
      marketCap: {
        quote: sure(truth.told.pool || isNow, cap),
        usd: view.polled ? anything : absent('computed'),
      },
    };
  });
  const others = ofOtherAssets(venuesOf(view, policy), policy);
  return { query, answer: { mint: policy.mint, ...answer, ...named('localMaybeOfOtherAssets', others) } };
}

/** `GET /analytics/history` */
export function protocolHistory(view: View, step: Step): { query: string; answer: object } {
  const past = pastOf(view.chain);
  const venues = venuesByPolicy(past);
  return framed(view, step, (end, isNow) => {
    const begun = view.policies.filter(({ createdAt }) => Number(createdAt) < end);
    const quotes = [...Map.groupBy(begun, ({ quoteMint }) => quoteMint)].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      byQuote: quotes.map(([quoteMint, policies]) => {
        const truths = policies
          .map((policy) => truthOf(view, past, venues.get(policy.address) ?? [], policy, end))
          .filter((truth) => truth !== null);
        return {
          quoteMint,
          quoteSymbol: anything,
          decimals: decimalsOf(view, quoteMint),
          policyCount: policies.length,
          ...figures(summed(truths), end, isNow),
        };
      }),
    };
  });
}

function summed(truths: readonly Truth[]): Truth {
  const sum = (of: (truth: Truth) => bigint | null): bigint | null =>
    truths.reduce<bigint | null>((total, truth) => {
      const part = of(truth);
      return total === null || part === null ? null : total + part;
    }, 0n);
  const times = truths.map(({ attestedAt }) => attestedAt).filter((time) => time !== null);
  const deployed = truths.map(({ deployedBy }) => deployedBy).filter((time) => time !== null);
  return {
    hwm: sum(({ hwm }) => hwm) ?? 0n,
    feesClaimed: sum(({ feesClaimed }) => feesClaimed) ?? 0n,
    profitSwept: sum(({ profitSwept }) => profitSwept) ?? 0n,
    tokensBurned: 0n,
    bankroll: sum(({ bankroll }) => bankroll),
    deployed: sum(({ deployed }) => deployed),
    attested: sum(({ attested }) => attested),
    attestedAt: times.length === 0 ? null : Math.min(...times),
    deployedBy: deployed.length === 0 ? null : Math.min(...deployed),
    cap: null,
    told: {
      policy: truths.every(({ told }) => told.policy),
      venues: truths.every(({ told }) => told.venues),
      pool: true,
    },
  };
}
