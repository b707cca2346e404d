import type { Chain } from '../../devnet/chain.ts';
import type { TypedEvent } from '../../devnet/program/events.ts';
import type { Policy } from '../../devnet/program/state.ts';

/** An event of the ledger with its place. Nothing here comes from the product. */
export interface PlacedEvent {
  kind: string;
  fields: Record<string, unknown>;
  slot: bigint;
  index: number;
  position: number;
  signature: string;
  blockTime: number;
}

export const iso = (seconds: number | bigint) => new Date(Number(seconds) * 1000).toISOString();

/** Every event of the chain, oldest first. */
export function ledgerEvents(chain: Chain): PlacedEvent[] {
  const found: PlacedEvent[] = [];
  for (const { slot, blockTime, transactions } of chain.history()) {
    for (const { signature, index, failed, events } of transactions) {
      if (failed) continue;
      events.forEach(({ kind, fields }: TypedEvent, position) => {
        found.push({ kind, fields: fields as never, slot, index, position, signature, blockTime });
      });
    }
  }
  return found;
}

const ACTORS: Record<string, string> = {
  AgentFundedVenue: 'agent',
  CreditNoted: 'agent',
  RemoteEquityReported: 'reporter',
  PolicyInitialised: 'authority',
  VenueRegistered: 'authority',
  VenueRevoked: 'authority',
  AgentSet: 'authority',
  PolicyUpdated: 'authority',
  PolicyLocked: 'authority',
};
const PAUSERS = ['authority', 'guardian', 'reporter'];
const PAUSED_BY = ['authority', 'guardian', 'attestation'];

export function actorOf(event: PlacedEvent): string {
  if (event.kind === 'PolicyPaused') return PAUSERS[event.fields.by as number] as string;
  return ACTORS[event.kind] ?? 'keeper';
}

/** The summary as the contract words it. */
export function summaryOf({ kind, fields }: PlacedEvent): Record<string, unknown> {
  const shown: Record<string, string[]> = {
    PolicyInitialised: ['mode'],
    VenueRegistered: ['kind', 'tokenAccount'],
    Routed: ['toLp', 'toBankroll'],
    PassiveDeployed: ['amount'],
    ProfitSwept: ['toLp', 'profit', 'toHolders'],
  };
  const names =
    shown[kind] ?? Object.keys(fields).filter((name) => !['policy', 'mint', 'quoteMint'].includes(name));
  return Object.fromEntries(
    names.map((name) => {
      const value = fields[name];
      if (name === 'mode') return [name, value === 0 ? 'Passive' : 'Agent'];
      if (name === 'kind') return [name, value === 0 ? 'Local' : 'Remote'];
      if (name === 'by') return [name, PAUSED_BY[value as number]];
      if (name === 'asof') return [name, iso(value as bigint)];
      return [name, typeof value === 'bigint' ? String(value) : value];
    }),
  );
}

const sum = (events: readonly PlacedEvent[], kind: string, field: string) =>
  String(
    events.reduce((total, event) => total + (event.kind === kind ? (event.fields[field] as bigint) : 0n), 0n),
  );

/** The figures of a policy's coin, fees, loop and holders routes, as values by their path. */
export function policyValues(
  chain: Chain,
  policy: Policy,
  events: readonly PlacedEvent[],
): Record<string, unknown> {
  const accounts = chain.addresses.ofPolicy(policy.mint);
  const balance = (address: string) => {
    const token = chain.state().tokens.get(address);
    return token === undefined ? null : String(token.amount);
  };
  const config = [...chain.state().configs.values()][0];
  const claims = events.filter(({ kind }) => kind === 'FeesClaimed').length;
  return {
    'coin.counters.feesClaimedQuote': String(policy.feesClaimed),
    'coin.counters.protocolFees': String(policy.protocolFees),
    'coin.counters.routedToLp': String(policy.routedToLp),
    'coin.counters.routedToBankroll': String(policy.routedToBankroll),
    'coin.counters.profitSwept': String(policy.profitSwept),
    'coin.counters.paidToHolders': String(policy.paidToHolders),
    'coin.counters.tokensBurned': String(policy.tokensBurned),
    'coin.counters.creditSpent': String(policy.creditSpent),
    'coin.hwm': String(policy.hwm),
    'coin.paused': policy.paused,
    'coin.locked': policy.locked,
    'coin.moneyPathsFrozen': policy.paused || config?.paused === true,
    'coin.risk': policy.risk,
    'coin.feeSplit.toBankrollBps': policy.toBankrollBps,
    'coin.profitSplit.toHoldersBps': policy.profitToHoldersBps,
    'balance.bankroll': balance(accounts.bankroll),
    'balance.quote_escrow': balance(accounts.quoteEscrow),
    'balance.base_escrow': balance(accounts.baseEscrow),
    'balance.holder_rewards': balance(accounts.holderRewards),
    'marketCap.quote': marketCap(chain, policy),
    'fees.quoteLeg.lifetime': String(policy.feesClaimed),
    'fees.quoteLeg.lifetimeFromEvents': sum(events, 'FeesClaimed', 'quoteAmount'),
    'fees.quoteLeg.last24h': sum(events, 'FeesClaimed', 'quoteAmount'),
    'fees.baseLeg.lifetime': sum(events, 'FeesClaimed', 'baseAmount'),
    'fees.claimCount': { lifetime: claims, last24h: claims },
    'loop.step2_routed.protocolCut': sum(events, 'Routed', 'protocolCut'),
    'loop.step2_routed.toLp': sum(events, 'Routed', 'toLp'),
    'loop.step2_routed.toBankroll': sum(events, 'Routed', 'toBankroll'),
    'loop.step5_profit.toHoldersStaged': sum(events, 'ProfitSwept', 'toHolders'),
    'loop.step5_profit.toLpFromProfit': sum(events, 'ProfitSwept', 'toLp'),
    'loop.step6_buyback.spent': sum(events, 'BuybackBurned', 'spent'),
    'loop.step6_buyback.burned': sum(events, 'BuybackBurned', 'burned'),
    'ranking.fees': sum(events, 'Routed', 'amount'),
    'ranking.eventsLast24h': events.length,
    venues: venueValues(chain, policy, balance),
    activity: events
      .map((event) => ({
        kind: event.kind,
        actor: actorOf(event),
        summary: summaryOf(event),
        slot: String(event.slot),
        signature: event.signature,
        block_time: iso(event.blockTime),
      }))
      .reverse(),
  };
}

function venueValues(chain: Chain, policy: Policy, balance: (address: string) => string | null): unknown[] {
  return [...chain.state().venues.values()]
    .filter((venue) => venue.policy === policy.address)
    .map((venue) => ({
      tokenAccount: venue.tokenAccount,
      kind: venue.kind === 0 ? 'Local' : 'Remote',
      assetClass: venue.assetClass,
      revoked: venue.revoked,
      value:
        venue.kind === 0
          ? balance(venue.tokenAccount)
          : venue.remoteAsof === 0n
            ? null
            : String(venue.remoteEquity),
      bridgedOut: venue.kind === 0 ? null : String(venue.bridgedOut),
    }))
    .sort((a, b) => (a.tokenAccount < b.tokenAccount ? -1 : 1));
}

/** floor(supply × price) by the curve's formula while the pool is on the curve. */
function marketCap(chain: Chain, policy: Policy): string | null {
  const pool = [...chain.state().pools.values()].find(
    ({ baseMint, quoteMint }) => baseMint === policy.mint && quoteMint === policy.quoteMint,
  );
  if (pool === undefined || pool.status !== 0) return null;
  const curve = chain.state().curves.get(pool.globalConfig);
  if (curve === undefined) return null;
  const { supply, virtualBase, virtualQuote, realBase, realQuote } = pool;
  if (curve.curveType === 0) return String((supply * (virtualQuote + realQuote)) / (virtualBase - realBase));
  if (curve.curveType === 1) return String((supply * virtualQuote) / virtualBase);
  return String((supply * virtualBase * realBase) / 2n ** 64n);
}

/** The day series of analytics: literal sums over all quotes by UTC day. */
export function daySeries(events: readonly PlacedEvent[]): Record<string, string>[] {
  const days = new Map<string, PlacedEvent[]>();
  for (const event of events) {
    const day = iso(event.blockTime).slice(0, 10);
    days.set(day, [...(days.get(day) ?? []), event]);
  }
  return [...days].sort().map(([day, some]) => ({
    day,
    routedToLp: sum(some, 'Routed', 'toLp'),
    routedToBankroll: sum(some, 'Routed', 'toBankroll'),
    protocolCut: sum(some, 'Routed', 'protocolCut'),
    profitSwept: sum(some, 'ProfitSwept', 'profit'),
    spentOnBuybacks: sum(some, 'BuybackBurned', 'spent'),
  }));
}
