import { REMOTE } from '../../../devnet/program/state/state.ts';
import { decodeBase58 } from '../../../schemas/solana/base58.ts';
import { actorOf } from './activity.ts';
import {
  absent,
  anything,
  atLeast,
  between,
  type Figure,
  figure,
  iso,
  Matching,
  readAt,
  readOf,
  slotUpTo,
  text,
  truth,
} from './expected.ts';
import { VENUES } from './venues.ts';
import { lastDay, type PlacedEvent, type View } from './view.ts';

const newest = (events: readonly PlacedEvent[]) => {
  const last = events.at(-1);
  return last === undefined ? null : iso(last.blockTime);
};

function remotes({ state }: View, bit: number) {
  return [...state.venues.values()].filter(({ kind, assetClass }) => kind === REMOTE && assetClass === bit);
}

/** A signature that the chain has; or null, as where the newest transaction turned out not to be on the chain. */
const signatureOf = (chain: View['chain']) =>
  new Matching('a signature that the chain has, or null', (value) => {
    const bytes = typeof value === 'string' ? decodeBase58(value) : null;
    return value === null || (bytes !== null && chain.transaction(bytes) !== null);
  });

/** Addresses followed for a policy at least: itself, its token accounts, its mint and its pool. */
const OF_A_POLICY = 7;

interface Stream {
  stream: { connected: boolean; reason: string | null };
  followed: { addresses: number; overRpc: number };
  history: { complete: boolean };
}

/**
 * Checks that the parts of a /status answer agree with each other where every gap is closed. The chain rests while
 * answers are compared: a stream without new slots is started again meanwhile, and then history is not complete.
 */
export function disagreements({ stream, followed, history }: Stream): string[] {
  const isTold = stream.reason !== null && stream.reason !== '';
  return [
    ...(history.complete === stream.connected ? [] : ['history is complete where the stream is connected']),
    ...(stream.connected || isTold ? [] : ['a stream that is not connected says why']),
    ...(!stream.connected || followed.overRpc === 0 || isTold ? [] : ['what is not streamed is told']),
    ...(followed.overRpc <= followed.addresses ? [] : ['no more is read over RPC than is followed']),
  ];
}

/** `GET /status` */
export function status(view: View): object {
  const { chain, config, events, now, policies, state } = view;
  const keeper = events.filter((event) => actorOf(event) === 'keeper');
  const byKind = Map.groupBy(lastDay(view, keeper), ({ kind }) => kind);
  const escrows = policies.map(({ mint }) => chain.addresses.ofPolicy(mint).quoteEscrow);
  const backlog = escrows.filter((escrow) => (state.tokens.get(escrow)?.amount ?? 0n) > 0n);
  const reach = (programId: string) =>
    view.polled ? anything : { reachable: null, programId, source: 'chain:getAccountInfo', reason: text };
  const polled = view.polled ? anything : absent('venue poller');
  return {
    protocol: {
      paused: config.paused,
      source: 'chain:ProtocolConfig account',
      asOf: readAt(view, config.address),
    },
    indexer: {
      lastProcessedSignature: signatureOf(chain),
      lastProcessedSlot: String(chain.tip().slot),
      lastProcessedBlockTime: iso(now),
      cursorUpdatedAt: text,
      stream: { connected: truth, since: text, reason: anything },
      followed: { addresses: atLeast(OF_A_POLICY * policies.length), overRpc: atLeast(0) },
      history: { complete: truth, fromSlot: '0', source: 'rpc' },
      verifiedSlot: slotUpTo(chain.tip().slot),
      openGaps: 0,
      incompleteTransactions: figure(0, text, text),
      deadLetters: figure(0, text, text),
    },
    keeper: {
      lastActionAt: newest(keeper),
      last24h: [...byKind]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([kind, some]) => ({ kind, count: some.length, lastAt: newest(some) })),
      unroutedFeeBacklogPolicyCount: figure(
        backlog.length,
        'chain:getTokenAccountBalance',
        escrows.length === 0 ? between(0, now) : readOf(view, escrows),
      ),
      note: text,
    },
    attestor: {
      lastActionAt: newest(events.filter(({ kind }) => kind === 'RemoteEquityReported')),
      perVenue: VENUES.map(({ name: venue, bit }) => {
        const live = remotes(view, bit).filter(({ revoked }) => !revoked);
        const times = live.map(({ remoteAsof }) => Number(remoteAsof));
        const last = Math.max(0, ...times);
        return { venue, ...(last === 0 ? absent(text) : figure(now - last, text, iso(last))) };
      }),
      moneyPathsFrozenNote: text,
    },
    venues: {
      launchpad_venue: reach(config.launchpadProgram),
      amm_venue: reach(config.ammProgram),
      ...Object.fromEntries(VENUES.map(({ name }) => [name, polled])),
    },
  };
}

/** `GET /analytics` but its series of days. */
export function analyticsTotals(view: View): object {
  const { config, policies, state } = view;
  const count = (passes: (policy: (typeof policies)[number]) => boolean) => policies.filter(passes).length;
  const byQuote = [...Map.groupBy(policies, ({ quoteMint }) => quoteMint)].map(([quoteMint, own]) => {
    const oldest = readOf(
      view,
      own.map(({ address }) => address),
    );
    const sum = (of: (policy: (typeof policies)[number]) => bigint) =>
      figure(
        own.reduce((total, policy) => total + of(policy), 0n),
        text,
        oldest,
      );
    return {
      quoteMint,
      decimals: state.mints.get(quoteMint)?.decimals,
      policyCount: own.length,
      feesClaimed: sum(({ feesClaimed }) => feesClaimed),
      protocolFees: sum(({ protocolFees }) => protocolFees),
      routedToLp: sum(({ routedToLp }) => routedToLp),
      routedToBankroll: sum(({ routedToBankroll }) => routedToBankroll),
      profitSwept: sum(({ profitSwept }) => profitSwept),
      paidToHolders: sum(({ paidToHolders }) => paidToHolders),
      creditSpent: sum(({ creditSpent }) => creditSpent),
    };
  });
  return {
    protocolTotals: {
      policyCount: policies.length,
      agentPolicyCount: count(({ mode }) => mode === 1),
      passivePolicyCount: count(({ mode }) => mode === 0),
      lockedPolicyCount: count(({ locked }) => locked),
      pausedPolicyCount: count(({ paused }) => paused),
      byQuote: byQuote.sort((a, b) => (a.quoteMint < b.quoteMint ? -1 : 1)),
    },
    protocolConfig: {
      paused: config.paused,
      protocolFeeBps: config.protocolFeeBps,
      maxBankrollBps: config.maxBankrollBps,
      maxRemoteStaleness: String(config.maxRemoteStaleness),
      maxDeviationBps: config.maxDeviationBps,
      minRiskForClass: config.minRiskForClass,
      launchpadProgram: config.launchpadProgram,
      ammProgram: config.ammProgram,
      source: text,
      asOf: readAt(view, config.address),
    },
    bridgeFlow: { perVenue: VENUES.map(({ name, bit }) => bridge(view, name, bit)) },
  };
}

function bridge(view: View, venue: string, bit: number): object {
  const live = remotes(view, bit).filter(({ revoked }) => !revoked);
  const sent = live.reduce((sum, { bridgedOut }) => sum + bridgedOut, 0n);
  const there = live.reduce((sum, { remoteEquity }) => sum + remoteEquity, 0n);
  const decimals = new Set(live.map(({ assetMint }) => view.state.mints.get(assetMint)?.decimals));
  const isAttested = live.every(({ remoteAsof }) => remoteAsof !== 0n);
  const asof = live.length === 0 ? 0 : Math.min(...live.map(({ remoteAsof }) => Number(remoteAsof)));
  const oldest =
    live.length === 0
      ? between(0, view.now)
      : readOf(
          view,
          live.map(({ address }) => address),
        );
  const equity: Figure = isAttested
    ? figure(there, text, live.length === 0 ? between(0, view.now) : iso(asof))
    : absent(text);
  const isSummable = isAttested && decimals.size < 2;
  return {
    venue,
    accountCount: live.length,
    bridgedOut: figure(sent, 'chain:VenueAccount.bridged_out', oldest),
    attestedEquity: equity,
    gap: isSummable
      ? figure(
          sent - there,
          'computed',
          readOf(
            view,
            live.map(({ address }) => address),
            asof,
          ),
        )
      : absent('computed'),
  };
}

/** `GET /origins` and `GET /models` */
export function registries({ state }: View): { origins: object; models: object } {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;
  return {
    origins: {
      source: 'chain:Origin accounts',
      items: [...state.origins.values()].sort(byId).map(({ id, address, name, assetClassMask, maxRisk }) => {
        return { id, pubkey: address, name, asset_class_mask: assetClassMask, max_risk: maxRisk };
      }),
    },
    models: {
      source: 'chain:Model accounts',
      items: [...state.models.values()].sort(byId).map(({ id, name, provider, enabled, registeredAt }) => {
        return { id, name, provider, enabled, registeredAt: iso(registeredAt) };
      }),
    },
  };
}
