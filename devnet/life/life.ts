import type { Chain } from '../chain/chain.ts';
import type { Action } from '../program/actions.ts';
import { createRandom, type Random } from '../program/state/random.ts';
import { GOVERNANCE, pause, protocol } from './governance.ts';
import { market } from './market.ts';
import { type Choice, fees, MONEY, type Weighted } from './money.ts';
import { launchMint, type Profile, profileOf } from './profile.ts';
import { classicQuoteAsset, refusedAction } from './refused-actions.ts';
import { officials, setupActions } from './setup.ts';
import { createVenueLists, type Subject, type World } from './world.ts';

export interface LifeOptions {
  seed: string | number;
  /** Policies are created over time up to this many. */
  policies: number;
  /** Actions a slot, on average; default 2. */
  rate?: number;
  /** Base URL of metadata documents, which the venues' server answers at `<base>/metadata/<n>.json`. */
  metadataBase?: string;
  /** Whether the protocol's parameters stay as they are deployed; otherwise its admin changes them now and then. */
  keepsParams?: boolean;
}

export interface Life {
  /**
   * The actions of the coming slot. They depend on the seed, the slot at the tip and the state alone, so that a chain
   * that was killed and opened again goes on as if nothing had happened.
   */
  next(): Action[];
}

/**
 * Sorted by the whole part of their weights, the likelier first, and else in this order. Another order would change the
 * chain of every seed.
 */
const ACTIVITIES = [...GOVERNANCE, ...MONEY, [13, market] as const, [2.5, refusedAction] as const].toSorted(
  ([one], [other]) => Math.floor(other) - Math.floor(one),
);
const TOTAL = ACTIVITIES.reduce((sum, [weight]) => sum + weight, 0);

const GROWTH_CHANCE = 0.2;
/** Launches ahead of the policies; a few never get a policy. */
const SPARE_LAUNCHES = 3;
const PROTOCOL_CHANCE = 0.004;

function drawn(random: Random): Weighted[1] {
  let lot = random.next() * TOTAL;
  for (const [weight, choose] of ACTIVITIES) {
    lot -= weight;
    if (lot < 0) return choose;
  }
  return fees;
}

/** The model drawn for a policy, or an enabled one where it is disabled: else no policy is made until it is enabled. */
function enabledModel({ state }: World, drawn: number): number {
  const enabled = [...state.models.values()].filter((model) => model.enabled).map(({ id }) => id);
  return enabled.includes(drawn) ? drawn : (enabled[0] ?? drawn);
}

/** Seeded life on a chain: launches, policies, and everything that happens to them. */
export function createLife(chain: Chain, options: LifeOptions): Life {
  const seed = String(options.seed);
  const { policies, rate = 2, metadataBase = 'http://127.0.0.1:8900', keepsParams = false } = options;
  const who = officials(seed);
  const venueLists = createVenueLists();
  const profiles: Profile[] = [];
  const profile = (number: number): Profile => {
    const known = profiles[number] ?? profileOf(seed, number, metadataBase);
    profiles[number] = known;
    return known;
  };
  let launched = 0;
  const countLaunched = (state: World['state']) => {
    while (state.mints.has(launchMint(seed, launched))) launched += 1;
    return launched;
  };

  const grow = (world: World, launches: number): Choice => {
    const created = world.state.policies.size;
    if (launches < created + SPARE_LAUNCHES) return [profile(launches).launch];
    // The oldest launch without a policy: policies are made in the order of their launches.
    const next = profile(created);
    if (world.random.chance(0.04)) return classicQuoteAsset(world, next);
    return [{ kind: 'init_policy', ...next.init, modelId: enabledModel(world, next.init.modelId) }];
  };

  const live = (world: World): Choice => {
    const launches = countLaunched(world.state);
    const created = world.state.policies.size;
    if (world.random.chance(PROTOCOL_CHANCE)) return protocol(world);
    if (created < policies && (created === 0 || world.random.chance(GROWTH_CHANCE)))
      return grow(world, launches);
    const chosen = profile(world.random.int(0, created - 1));
    const policy = world.state.policies.get(chain.addresses.ofPolicy(chosen.mint).policy);
    if (policy === undefined) return [];
    const venues = world.venuesOf(policy.address);
    const subject: Subject = { policy, profile: chosen, unit: 10n ** BigInt(chosen.quote.decimals), venues };
    if (policy.paused && world.random.chance(0.4)) return pause(world, subject);
    return drawn(world.random)(world, subject);
  };

  return {
    next: () => {
      const tip = chain.tip();
      const state = chain.state();
      const config = state.configs.get(chain.addresses.config.address);
      if (config === undefined) return setupActions(seed);
      const random = createRandom(`life:${seed}:${tip.slot}`);
      const venuesOf = venueLists(state);
      const world: World = {
        chain,
        state,
        random,
        seed,
        now: BigInt(chain.timeOf(chain.nextSlotAtLeast())),
        who,
        venuesOf,
        keepsParams,
        counted: new Map(),
      };
      const count = Math.floor(rate) + (random.chance(rate % 1) ? 1 : 0);
      const actions: Action[] = [];
      if (config.paused && random.chance(0.3)) {
        actions.push({ kind: 'set_protocol_paused', by: who.admin, paused: false });
      }
      for (let made = 0; made < count; made += 1) {
        // Two launches, or two policies, drawn for one block would be the same: keep the first.
        const choice = live(world);
        const repeated = choice.some(
          (action) => action.kind === 'create_launch' || action.kind === 'init_policy',
        );
        if (!repeated || !actions.some((action) => action.kind === choice[0]?.kind)) actions.push(...choice);
      }
      return actions;
    },
  };
}
