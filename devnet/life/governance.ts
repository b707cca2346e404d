import { CLASS_BITS } from '../../schemas/program/asset-classes.ts';
import { venueOfClass } from '../../schemas/venues/remote.ts';
import type { SingleAction } from '../program/actions.ts';
import { keyOf, seededKey, ZERO_KEY } from '../program/state/keys.ts';
import { seededBytes } from '../program/state/random.ts';
import { AGENT, type Key, LOCAL, REMOTE, type VenueAccount } from '../program/state/state.ts';
import { AGENT_GENERATIONS, agentKeypair } from './agent-keys.ts';
import { CAST_CLASSES, isCast } from './cast.ts';
import { type Choice, deploy, type Weighted } from './money.ts';
import { drawTerms } from './profile.ts';
import { MODELS } from './setup.ts';
import type { Subject, World } from './world.ts';

const MAX_VENUES = 4;
const CLASSES: readonly number[] = Object.values(CLASS_BITS);
/** Whether accounts of an asset class may be held at a venue of the list. */
const isRemoteClass = (bit: number) => venueOfClass(bit) !== null;

const holds = (venues: readonly VenueAccount[], bit: number) =>
  venues.some(({ kind, assetClass }) => kind === REMOTE && assetClass === bit);

/** A 20-byte address in the last bytes of 32. */
function evmAddress(label: string): string {
  const bytes = new Uint8Array(32);
  bytes.set(seededBytes(label, 32).subarray(0, 20), 12);
  return keyOf(bytes);
}

function registerVenue(world: World, subject: Subject): Choice {
  const { policy, venues, profile } = subject;
  const own = isCast(profile.number) ? CAST_CLASSES.find((bit) => !holds(venues, bit)) : undefined;
  if (own === undefined && venues.length >= MAX_VENUES) return deploy(world, subject);
  const { random, state } = world;
  const mask = state.origins.get(policy.origin)?.assetClassMask ?? 0;
  const allowed = CLASSES.filter((bit) => random.chance(0.04) || (mask & bit) !== 0);
  const favourite = allowed.filter(isRemoteClass);
  const assetClass =
    own !== undefined
      ? own
      : favourite.length > 0 && random.chance(0.6)
        ? random.pick(favourite)
        : random.pick(allowed.length > 0 ? allowed : CLASSES);
  const remote = random.chance(isRemoteClass(assetClass) ? 0.93 : 0.05) || own !== undefined;
  const tokenAccount = seededKey(`venue:${policy.mint}:${venues.length}:${random.int(1, 99)}`);
  const registered: SingleAction = {
    kind: 'register_venue_account',
    mint: policy.mint,
    by: policy.authority,
    tokenAccount,
    assetMint: !remote && random.chance(0.03) ? policy.mint : policy.quoteMint,
    venueKind: remote ? REMOTE : LOCAL,
    assetClass,
    remoteAccount: remote ? evmAddress(tokenAccount) : ZERO_KEY,
  };
  // The policies that visitors look at have an attested equity from the first moment on.
  return own === undefined ? [registered] : [registered, firstReport(world, policy.mint, tokenAccount)];
}

const firstReport = (world: World, mint: Key, tokenAccount: Key): SingleAction => ({
  ...{ kind: 'report_remote_equity', mint, by: world.who.reporter, tokenAccount },
  ...{ equity: 0n, notional: 0n, asof: world.now },
});

function revokeVenue(world: World, subject: Subject): Choice {
  const { policy } = subject;
  const keeps = ({ kind, assetClass }: VenueAccount) =>
    isCast(subject.profile.number) && kind === REMOTE && CAST_CLASSES.includes(assetClass);
  const live = subject.venues.filter((venue) => !venue.revoked && !keeps(venue));
  if (live.length === 0) return registerVenue(world, subject);
  const { tokenAccount } = world.random.pick(live);
  return [{ kind: 'revoke_venue_account', mint: policy.mint, by: policy.authority, tokenAccount }];
}

function setPolicy(world: World, subject: Subject): Choice {
  const { policy, profile } = subject;
  const drawn = { ...drawTerms(world.random), targetAsset: policy.targetAsset };
  // The cast keeps its risk: with a lower one and a locked policy its remaining accounts could not be registered.
  const terms = isCast(profile.number) ? { ...drawn, risk: policy.risk } : drawn;
  return [{ kind: 'set_policy', mint: policy.mint, by: policy.authority, terms }];
}

function lock(_: World, { policy }: Subject): Choice {
  return [{ kind: 'lock_policy', mint: policy.mint, by: policy.authority }];
}

function setAgent(world: World, subject: Subject): Choice {
  const { policy, profile } = subject;
  if (policy.mode !== AGENT || isCast(profile.number)) return setPolicy(world, subject);
  const generation = world.random.int(0, AGENT_GENERATIONS - 1);
  const agent = world.random.chance(0.1) ? ZERO_KEY : agentKeypair(world.seed, policy.mint, generation).key;
  return [{ kind: 'set_agent', mint: policy.mint, by: policy.authority, agent }];
}

export function pause(world: World, { policy }: Subject): Choice {
  if (policy.paused) return [{ kind: 'set_paused', mint: policy.mint, by: policy.authority, paused: false }];
  return world.random.chance(0.5)
    ? [{ kind: 'guardian_pause', mint: policy.mint, by: policy.guardian }]
    : [{ kind: 'set_paused', mint: policy.mint, by: policy.authority, paused: true }];
}

export const GOVERNANCE: readonly Weighted[] = [
  [6, registerVenue],
  [2, setPolicy],
  [1, setAgent],
  [0.8, revokeVenue],
  [0.5, pause],
  [0.3, lock],
];

/** What the protocol's admin does from time to time. */
export function protocol(world: World): Choice {
  const { random, who } = world;
  const by = who.admin;
  const lot = random.next();
  if (lot < 0.15) return [{ kind: 'set_protocol_paused', by, paused: true }];
  if (lot < 0.5) {
    const model = random.pick(MODELS);
    const enabled = random.chance(0.85) ? model.enabled : !model.enabled;
    return [{ kind: 'register_model', by, ...model, name: `${model.name}.${random.int(0, 9)}`, enabled }];
  }
  /** One of these values; the first of them, which is the deployed one, where the world keeps to those. */
  const drawn = <T>(values: readonly [T, ...T[]]): T => {
    const one = random.pick(values);
    return world.keepsParams ? values[0] : one;
  };
  const params = random.pick([
    { protocolFeeBps: drawn([500, 500, 250, 2000]) },
    { maxRemoteStaleness: drawn([120n, 120n, 90n]) },
    { protocolFeeBps: 2001 },
    { maxDeviationBps: drawn([2000, 1500]) },
  ]);
  return [{ kind: 'set_protocol_params', by, params }];
}
