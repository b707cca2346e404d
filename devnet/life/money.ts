import type { Action, SingleAction } from '../program/actions.ts';
import { AGENT } from '../program/state/state.ts';
import { held, livePairs, liveRemotes, type Subject, type World } from './world.ts';

/** One action, several for the same block, or none. */
export type Choice = readonly Action[];
/** Something that may happen to a policy next, with its share of all that may. */
export type Weighted = readonly [weight: number, choose: (world: World, subject: Subject) => Choice];

/** A random amount of up to a few hundred whole quote tokens. */
function draw(world: World, subject: Subject): bigint {
  return world.random.big(subject.unit / 100n + 1n, subject.unit * 400n + 50n);
}

export function fees(world: World, subject: Subject): Choice {
  const { policy, profile } = subject;
  const at = world.chain.addresses.ofPolicy(policy.mint);
  const quoteAmount = draw(world, subject);
  if (!profile.claims) {
    return [{ kind: 'transfer', account: at.quoteEscrow, amount: quoteAmount, direction: 'in' }];
  }
  const lot = world.random.next();
  const claim: SingleAction = {
    kind: 'claim_fees',
    mint: policy.mint,
    by: world.who.keeper,
    quoteAmount: lot < 0.05 ? 0n : quoteAmount,
    baseAmount: lot > 0.6 ? 0n : world.random.big(1n, 50_000_000n),
  };
  if (!world.random.chance(0.1)) return [claim];
  return [{ kind: 'batch', actions: [claim, { kind: 'route', mint: policy.mint, by: world.who.keeper }] }];
}

/** How often a keeper sends an instruction that has nothing to do, and fails. */
const VAIN_CHANCE = 0.06;

function route(world: World, subject: Subject): Choice {
  const { quoteEscrow } = world.chain.addresses.ofPolicy(subject.policy.mint);
  if (held(world, quoteEscrow) === 0n && !world.random.chance(VAIN_CHANCE)) return fees(world, subject);
  return [{ kind: 'route', mint: subject.policy.mint, by: world.who.keeper }];
}

function compound(world: World, subject: Subject): Choice {
  const { mint } = subject.policy;
  const staged = held(world, world.chain.addresses.ofPolicy(mint).lpQuote);
  if (staged === 0n) return route(world, subject);
  const amount = world.random.chance(0.5) ? staged : world.random.big(1n, staged);
  return [{ kind: 'compound_lp', mint, by: world.who.keeper, amount }];
}

function buyback(world: World, subject: Subject): Choice {
  const { mint } = subject.policy;
  const staged = held(world, world.chain.addresses.ofPolicy(mint).holderRewards);
  if (staged === 0n) return sweep(world, subject);
  const amount = world.random.chance(0.5) ? staged : world.random.big(1n, staged);
  return [{ kind: 'buyback_and_burn', mint, by: world.who.keeper, amount }];
}

function burnBase(world: World, subject: Subject): Choice {
  const { baseEscrow } = world.chain.addresses.ofPolicy(subject.policy.mint);
  if (held(world, baseEscrow) === 0n && !world.random.chance(VAIN_CHANCE)) return fees(world, subject);
  return [{ kind: 'burn_base_leg', mint: subject.policy.mint, by: world.who.keeper }];
}

/** Once money at a venue exceeds this many times what was put in, only losses are drawn. */
const MOST_TIMES = 20n;
/** New equity in per cent of the old: a drift within the band, and jumps beyond it; `over`: above MOST_TIMES. */
const DRIFT = { free: [88n, 116n], over: [84n, 100n] } as const;
const JUMPS = { free: [2n, 30n, 75n, 125n, 300n], over: [2n, 30n, 75n, 75n, 30n] } as const;

/** Most seconds that a venue's clock is ahead: few, so that the newest of many reports is seldom such a one. */
const MOST_AHEAD = 3n;

/** Most reports in a row where more money is on its way than the band allows in one. */
const MOST_STEPS = 4;

/** Equities of successive reports: each counts as much waiting money as the band has room for, so that none pauses. */
function arriving({ state, chain }: World, previous: bigint, drifted: bigint, waiting: bigint): bigint[] {
  const { maxDeviationBps = 0 } = state.configs.get(chain.addresses.config.address) ?? {};
  const reported: bigint[] = [];
  let [before, equity, rest] = [previous, drifted, waiting];
  do {
    const room = before + (before * BigInt(maxDeviationBps)) / 10_000n - equity;
    const arrived = room <= 0n ? 0n : room < rest ? room : rest;
    [equity, rest] = [equity + arrived, rest - arrived];
    reported.push(equity);
    before = equity;
  } while (rest > 0n && reported.length < MOST_STEPS);
  return reported;
}

/**
 * The venues' reports now: a drift, and sometimes a jump beyond the band. Money that was sent waits in the token
 * account until a report counts it: all of it where there was no equity, else what the band allows beside the drift.
 */
export function reports(world: World, subject: Subject, calm: boolean): SingleAction[] {
  return liveRemotes(subject.venues).flatMap(({ tokenAccount, remoteEquity, bridgedOut }) => {
    const { random } = world;
    const sent = held(world, tokenAccount);
    const isFirst = remoteEquity === 0n;
    // An account without equity starts from the money that waits, or else from all that was ever sent to it.
    const previous = isFirst ? (sent > 0n ? sent : bridgedOut) : remoteEquity;
    const jump = !calm && random.chance(0.05);
    const room = previous > bridgedOut * MOST_TIMES ? 'over' : 'free';
    const [least, most] = DRIFT[room];
    const factor = jump ? random.pick(JUMPS[room]) : random.big(least, most);
    const drifted = (previous * factor) / 100n;
    const leverage = random.big(0n, 48n);
    const late = random.big(-20n, 30n);
    const asof = world.now - (late < -MOST_AHEAD ? -late : late);

    const taken = world.counted.get(tokenAccount);
    const equities = arriving(world, previous, drifted, isFirst || jump ? 0n : (taken ?? sent));
    const arrived = isFirst ? sent : (equities.at(-1) ?? drifted) - drifted;
    world.counted.set(tokenAccount, arrived);
    const out: SingleAction = { kind: 'transfer', account: tokenAccount, amount: arrived, direction: 'out' };
    return [
      // Where an account is reported twice in one slot, the first reports have taken the waiting money already.
      ...(arrived > 0n && taken === undefined ? [out] : []),
      ...equities.map(
        (equity): SingleAction => ({
          ...{ kind: 'report_remote_equity', mint: subject.policy.mint, by: world.who.reporter },
          ...{ tokenAccount, equity, notional: (equity * leverage) / 10n, asof },
        }),
      ),
    ];
  });
}

/** An instruction that reads equity needs fresh reports: they go in its transaction, before it, or are left out. */
function withFreshReports(world: World, subject: Subject, action: SingleAction): Choice {
  const fresh = reports(world, subject, true);
  if (fresh.length === 0) return [action];
  const lot = world.random.next();
  if (lot < 0.08) return [action];
  return lot < 0.5 ? [{ kind: 'batch', actions: [...fresh, action] }] : [...fresh, action];
}

function sweep(world: World, subject: Subject): Choice {
  return withFreshReports(world, subject, {
    kind: 'sweep_profit',
    mint: subject.policy.mint,
    by: world.who.keeper,
    venues: livePairs(subject.venues),
  });
}

export function deploy(world: World, subject: Subject): Choice {
  const { policy } = subject;
  const live = subject.venues.filter((venue) => !venue.revoked);
  const bankroll = held(world, world.chain.addresses.ofPolicy(policy.mint).bankroll);
  if (live.length === 0 || bankroll === 0n) return fees(world, subject);
  // Sometimes more than risk allows, which the program refuses.
  const most = world.random.chance(0.08) ? bankroll : (bankroll * BigInt(policy.risk)) / 100n;
  return withFreshReports(world, subject, {
    kind: policy.mode === AGENT ? 'agent_fund_venue' : 'passive_deploy',
    mint: policy.mint,
    by: policy.mode === AGENT ? policy.agent : world.who.keeper,
    tokenAccount: world.random.pick(live).tokenAccount,
    amount: world.random.big(1n, most > 1n ? most : 1n),
    venues: livePairs(subject.venues),
  });
}

function attest(world: World, subject: Subject): Choice {
  const all = reports(world, subject, false);
  return all.length > 0 ? all : fees(world, subject);
}

/** Whole tokens that count as put in by every policy beside what was routed to its bankroll. */
const LEAST_STAKE = 10_000n;

/** A Local venue account gains or loses by a trade that the program does not see. */
function trade(world: World, subject: Subject): Choice {
  const { policy, unit } = subject;
  const local = subject.venues.filter(
    (venue) => world.state.tokens.has(venue.tokenAccount) && venue.kind === 0,
  );
  if (local.length === 0) return attest(world, subject);
  const { tokenAccount, revoked } = world.random.pick(local);
  const balance = held(world, tokenAccount);
  if (revoked) {
    if (balance === 0n) return [{ kind: 'close_token_account', account: tokenAccount }];
    return [{ kind: 'transfer', account: tokenAccount, amount: balance, direction: 'out' }];
  }
  const most = (policy.routedToBankroll + LEAST_STAKE * unit) * MOST_TIMES;
  const gain = (world.random.chance(0.6) && balance < most) || balance === 0n;
  const amount = world.random.big(1n, balance / 8n + unit);
  return [
    {
      kind: 'transfer',
      account: tokenAccount,
      amount: gain || amount < balance ? amount : balance,
      direction: gain ? 'in' : 'out',
    },
  ];
}

function credit(world: World, subject: Subject): Choice {
  const { policy } = subject;
  if (policy.mode !== AGENT) return deploy(world, subject);
  return [
    { kind: 'note_credit', mint: policy.mint, by: policy.agent, amount: world.random.big(1n, 3_000_000n) },
  ];
}

export const MONEY: readonly Weighted[] = [
  [15, fees],
  [13, route],
  [12, attest],
  [9, deploy],
  [8, sweep],
  [7, trade],
  [6, buyback],
  [5, compound],
  [5, credit],
  [4, burnBase],
];
