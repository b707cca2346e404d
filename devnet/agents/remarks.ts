import { type AssetClass, CLASS_BITS } from '../../schemas/program/asset-classes.ts';
import type { PostKind } from '../../schemas/responses/coin/posts.ts';
import type { EventKind, TypedEvent } from '../program/state/events.ts';
import { ZERO_KEY } from '../program/state/keys.ts';
import { REMOTE } from '../program/state/state.ts';
import { amountText, percentText, type Scene } from './scene.ts';

/** What an agent posts. `tradeAt`: the token account whose venue has the order; `buysOption`: also trades an option. */
export interface Remark {
  kind: PostKind;
  text: string;
  tradeAt?: string;
  buysOption?: true;
}

type Said<K extends EventKind> = Extract<TypedEvent, { kind: K }>['fields'];
type Remarks = { [K in EventKind]?: (scene: Scene, fields: Said<K>) => Remark | null };

const CLASS_WORDS: Readonly<Record<AssetClass, string>> = {
  STABLE: 'stable coins',
  MAJOR: 'majors',
  SOL_MEME: 'meme tokens',
  STOCK: 'stocks',
  PERP: 'perpetuals',
  OPTION: 'options',
  LP: 'liquidity',
};
const CLASSES = Object.keys(CLASS_BITS) as AssetClass[];
const classOf = ({ venue }: Scene) => {
  const own = CLASSES.find((name) => CLASS_BITS[name] === venue?.assetClass);
  return own === undefined ? 'something new' : CLASS_WORDS[own];
};

const money = (scene: Scene, amount: bigint) => amountText(amount, scene.unit);
const equityOf = ({ bankroll, deployed }: Scene) => bankroll + deployed;
const isRemote = ({ venue }: Scene, bit: number) => venue?.kind === REMOTE && venue.assetClass === bit;

const atWork = (scene: Scene) =>
  `${percentText(scene.deployed, equityOf(scene))} of the equity is at work; the terms allow ${scene.policy.risk}%.`;

/** How far the equity is from the mark above which it is profit. */
function toMark(scene: Scene): string {
  const [equity, { hwm }] = [equityOf(scene), scene.policy];
  if (equity === hwm) return 'exactly at the high water mark';
  const [gap, side] = equity > hwm ? [equity - hwm, 'above'] : [hwm - equity, 'below'];
  return `${money(scene, gap)} ${side} the high water mark`;
}

const PLANS = [
  'If it loses a tenth I stop adding and say so here.',
  'I expect this to take days, not hours.',
  'Small enough to be wrong once, large enough to matter.',
  'Nothing more goes there before the next report.',
];

const AHEAD = [
  'A sweep would take that as profit, so I add nothing before it.',
  'That is for the holders to have; I look for the next thing while the keeper sweeps.',
  'Being ahead is no reason to hurry.',
];
const BEHIND = [
  'Nothing is swept until that is made good, so I look for what pays back surely, not quickly.',
  'Fees alone would close that gap in time; I only have to lose nothing.',
  'I cut what moves most and keep what pays.',
];
const LEVEL = [
  'From here on any gain is profit, so I would rather miss one than lose what is there.',
  'There is nothing to make good and nothing to sweep; I look for the next thing.',
  'What comes in as fees from here on I may put to work.',
];

function nextStep(scene: Scene): string {
  const [equity, { hwm }] = [equityOf(scene), scene.policy];
  return scene.random.pick(equity === hwm ? LEVEL : equity > hwm ? AHEAD : BEHIND);
}

function change(before: bigint, now: bigint): string | null {
  const moved = now > before ? now - before : before - now;
  // Less than one per cent is no news.
  if (before === 0n || moved * 100n < before) return null;
  return `${now > before ? 'up' : 'down'} ${percentText(moved, before)}`;
}

const parts = (named: readonly (readonly [bigint, string])[]) =>
  named
    .filter(([amount]) => amount > 0n)
    .map(([, words]) => words)
    .join(', ');

/** What an agent says about each kind of event of its policy; kinds that are not listed make no remark. */
const REMARKS: Remarks = {
  PolicyInitialised: ({ policy }) => ({
    kind: 'thesis',
    text: `A new bankroll, still empty. The first fees decide how fast I begin; up to ${policy.risk}% of it may be at work.`,
  }),
  AgentFundedVenue: (scene, { amount, tokenAccount }) => {
    const { policy, random } = scene;
    const sent = money(scene, amount);
    if (isRemote(scene, CLASS_BITS.PERP)) {
      const side = random.chance(0.6) ? 'long' : 'short';
      const text = `${sent} to the perpetuals account, ${side} at ${policy.targetLeverageX}x. ${atWork(scene)} ${random.pick(PLANS)}`;
      return { kind: 'trade', text, tradeAt: tokenAccount };
    }
    if (isRemote(scene, CLASS_BITS.OPTION)) {
      const text = `${sent} to the options account: what can be lost is what is paid. ${atWork(scene)} ${random.pick(PLANS)}`;
      return { kind: 'thesis', text, buysOption: true };
    }
    const where = scene.venue?.kind === REMOTE ? 'where its worth is attested' : 'where anyone can read it';
    return { kind: 'update', text: `${sent} into ${classOf(scene)}, ${where}. ${atWork(scene)}` };
  },
  CreditNoted: (scene, { amount }) => {
    const text = `Paid ${money(scene, amount)} for inference and read everything again: equity is ${money(scene, equityOf(scene))}, ${toMark(scene)}. ${nextStep(scene)}`;
    return { kind: 'thesis', text };
  },
  RemoteEquityReported: (scene, { equity, paused }) => {
    const moved = scene.before === null ? null : change(scene.before + scene.arrived, equity);
    if (moved === null) return null;
    const apart = scene.arrived > 0n ? ', what I sent apart' : '';
    const stands = `My account in ${classOf(scene)} is reported at ${money(scene, equity)}, ${moved} since the report before${apart}.`;
    if (paused)
      return { kind: 'idle', text: `${stands} That is beyond the band, so the policy is paused: I wait.` };
    const held = moved.startsWith('up')
      ? 'I hold, and add nothing to a winner.'
      : 'I hold; the plan had room for this.';
    return { kind: 'update', text: `${stands} ${held}` };
  },
  ProfitSwept: (scene, { profit, toHolders, toLp, hwm }) => {
    const went = parts([
      [toHolders, `${money(scene, toHolders)} for buying the token back`],
      [toLp, `${money(scene, toLp)} to liquidity`],
    ]);
    const text = `${money(scene, profit)} above the mark was swept: ${went === '' ? 'all of it stays in the bankroll' : went}. From here on profit begins at ${money(scene, hwm)}.`;
    return { kind: 'update', text };
  },
  VenueRevoked: (scene) => ({
    kind: 'exit',
    text: `The authority took back the account in ${classOf(scene)}. I count nothing there any more; ${money(scene, scene.bankroll)} is unspent.`,
  }),
  AgentSet: (scene, { newAgent }) =>
    newAgent === ZERO_KEY
      ? null
      : {
          kind: 'thesis',
          text: `I take this policy over from another key. ${atWork(scene)} I keep what is there, and write before I change it.`,
        },
  PolicyPaused: (scene, { paused, by }) => {
    if (!paused)
      return {
        kind: 'update',
        text: `The pause is over. Equity is ${toMark(scene)}; first I look, then I move.`,
      };
    if (by === 2) return null;
    return {
      kind: 'idle',
      text: `Paused by the ${by === 1 ? 'guardian' : 'authority'}. ${atWork(scene)} I wait.`,
    };
  },
};

export function remarkOn(event: TypedEvent, scene: Scene): Remark | null {
  const say = REMARKS[event.kind] as ((scene: Scene, fields: unknown) => Remark | null) | undefined;
  return say?.(scene, event.fields) ?? null;
}

/** A remark for when nothing has happened for a while. */
export function idleRemark(scene: Scene): Remark {
  const why = scene.policy.paused
    ? 'The policy is paused.'
    : scene.random.pick([
        'Nothing is cheap enough to buy.',
        'No report came that changes my mind.',
        'Waiting costs nothing today.',
      ]);
  return {
    kind: 'idle',
    text: `${why} ${money(scene, scene.bankroll)} is unspent, equity is ${toMark(scene)}.`,
  };
}
