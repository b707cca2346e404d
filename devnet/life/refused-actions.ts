import type { Action } from '../program/actions.ts';
import { seededKey } from '../program/state/keys.ts';
import { TOKEN_PROGRAM } from '../program/state/known-programs.ts';
import { type Choice, reports } from './money.ts';
import { quoteAssets } from './quote-assets.ts';
import { livePairs, type Subject, type World } from './world.ts';

type RefusedAction = (world: World, subject: Subject) => Action | null;

const stranger = seededKey('stranger');

/** Actions that the program refuses; null where one cannot be made for the policy. */
const REFUSED_ACTIONS: readonly RefusedAction[] = [
  (_, { policy }) => ({ kind: 'set_paused', mint: policy.mint, by: policy.guardian, paused: false }),
  (_, { policy }) => ({ kind: 'set_agent', mint: policy.mint, by: stranger, agent: stranger }),
  (_, { policy }) => ({ kind: 'note_credit', mint: policy.mint, by: stranger, amount: 5n }),
  (_, { policy }) => ({ kind: 'set_protocol_paused', by: policy.authority, paused: true }),
  (world, { policy, venues }) => {
    const pairs = livePairs(venues).reverse();
    return { kind: 'sweep_profit', mint: policy.mint, by: world.who.keeper, venues: pairs.slice(1) };
  },
  (world, { policy, venues }) => {
    const pairs = livePairs(venues);
    const [first] = pairs;
    const repeated = first === undefined ? [] : [first, ...pairs.slice(0, -1)];
    return { kind: 'sweep_profit', mint: policy.mint, by: world.who.keeper, venues: repeated };
  },
  (world, subject) => {
    const [report] = reports(world, subject, true);
    if (report?.kind !== 'report_remote_equity') return null;
    const lot = world.random.int(0, 2);
    if (lot === 0) return { ...report, by: stranger };
    if (lot === 1) return { ...report, asof: world.now + 900n };
    return { ...report, notional: report.equity * 5n + 1n };
  },
  (world, { policy, venues }) => {
    const local = venues.find((venue) => venue.kind === 0 && !venue.revoked);
    if (local === undefined) return null;
    return {
      kind: 'report_remote_equity',
      mint: policy.mint,
      by: world.who.reporter,
      tokenAccount: local.tokenAccount,
      equity: 1n,
      notional: 0n,
      asof: world.now,
    };
  },
  (world, { policy, venues }) => ({
    kind: policy.mode === 1 ? 'agent_fund_venue' : 'passive_deploy',
    mint: policy.mint,
    by: policy.mode === 1 ? policy.agent : world.who.keeper,
    tokenAccount: seededKey('not-registered'),
    amount: 1n,
    venues: livePairs(venues),
  }),
  (_, { policy }) => {
    const { mint, authority: by } = policy;
    return { kind: 'set_policy', mint, by, terms: { ...policy, risk: 120 } };
  },
];

export function refusedAction(world: World, subject: Subject): Choice {
  const action = world.random.pick(REFUSED_ACTIONS)(world, subject);
  return action === null ? [] : [action];
}

/** A policy with a quote asset of the classic token program, which the program refuses. */
export function classicQuoteAsset(world: World, profile: Subject['profile']): Choice {
  const classic = quoteAssets(world.seed).find((asset) => asset.program === TOKEN_PROGRAM);
  return classic === undefined ? [] : [{ kind: 'init_policy', ...profile.init, quoteMint: classic.mint }];
}
