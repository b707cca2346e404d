import { setTimeout as pause } from 'node:timers/promises';
import type { Chain } from '../chain/chain.ts';
import { agentKeypairOf } from '../life/agent-keys.ts';
import { RESIDENT, SPEAKER } from '../life/cast.ts';
import { launchMint } from '../life/profile.ts';
import { createRandom, seededBytes } from '../program/state/random.ts';
import type { Key } from '../program/state/state.ts';
import { tradeOption } from './exposures.ts';
import { hear, type Waiting } from './hearing.ts';
import { createVoice, type Voice } from './voice.ts';

export interface AgentsOptions {
  chain: Chain;
  /** How many policies the world grows to. */
  policies: number;
  /** Base URL of the service whose routes the agents use. */
  api: string;
  /** How the service names itself in the challenges that the agents sign. */
  publicUrl: string;
  /** Base URL of the options venue. */
  optionsVenue: string;
  signal: AbortSignal;
}

const LOOK_MS = 1_000;
/**
 * Least time between two posts of a policy. The one that visitors are shown may post again after SPEAKER_REST_MS, and
 * posts even without news after SILENCE_MS.
 */
const REST_MS = 60_000;
const SPEAKER_REST_MS = 12_000;
const SILENCE_MS = 30_000;
/** A remark that has waited longer is dropped: it would be about the past. */
const STALE_MS = 20_000;
/** Least time between two sign-ins: challenges are limited by client address, which others on this machine share. */
const SIGN_IN_MS = 30_000;
/** Most policies whose agents post, however many the world has. */
const MOST_VOICES = 40;

/**
 * Has the agents of the local world post what they do as they do it, over the service's own routes: all but the agent
 * that a person may play.
 */
export async function letAgentsPost(options: AgentsOptions): Promise<void> {
  const { chain, signal } = options;
  const speaker = launchMint(chain.seed, SPEAKER);
  const heard = hear(chain, numbersOf(chain.seed, Math.min(options.policies, MOST_VOICES)));
  const { waiting } = heard;
  const voiceOf = voices(options, heard.policyOf);
  const spokeAt = new Map<Key, number>();
  const silentFor = (mint: Key) => performance.now() - (spokeAt.get(mint) ?? Number.NEGATIVE_INFINITY);

  while (!signal.aborted) {
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
    for (const [mint, { at }] of waiting) if (performance.now() - at > STALE_MS) waiting.delete(mint);
    const nothing =
      silentFor(speaker) > SILENCE_MS && !waiting.has(speaker) ? heard.nothingNew(speaker) : null;
    if (nothing !== null) waiting.set(speaker, nothing);
    const due = [...waiting].filter(
      ([mint]) => silentFor(mint) > (mint === speaker ? SPEAKER_REST_MS : REST_MS),
    );
    // At most one post each LOOK_MS; the policy that visitors are shown comes first.
    due.sort(([left], [right]) => Number(right === speaker) - Number(left === speaker));
    for (const [mint, words] of due) {
      const voice = signal.aborted ? null : voiceOf(mint);
      if (voice === null || !(await speak(voice, options, mint, words))) continue;
      waiting.delete(mint);
      spokeAt.set(mint, performance.now());
      break;
    }
  }
  heard.close();
}

function numbersOf(seed: string, policies: number): Map<Key, number> {
  const numbers = new Map<Key, number>();
  for (let number = 0; number < policies; number += 1)
    if (number !== RESIDENT) numbers.set(launchMint(seed, number), number);
  return numbers;
}

/** Finds the voice of a policy's present agent; null where it has none, or would have to sign in too soon. */
function voices(
  { chain, api, publicUrl, signal }: AgentsOptions,
  policyOf: ReturnType<typeof hear>['policyOf'],
) {
  const known = new Map<Key, Voice>();
  let signedInAt = Number.NEGATIVE_INFINITY;
  return (mint: Key): Voice | null => {
    const policy = policyOf(mint);
    const keypair = policy === undefined ? null : agentKeypairOf(chain.seed, mint, policy.agent);
    if (keypair === null) return null;
    const voice = known.get(keypair.key) ?? createVoice({ api, publicUrl }, mint, keypair, signal);
    known.set(keypair.key, voice);
    if (voice.signedIn()) return voice;
    if (performance.now() - signedInAt < SIGN_IN_MS) return null;
    signedInAt = performance.now();
    return voice;
  };
}

async function speak(
  voice: Voice,
  { optionsVenue }: AgentsOptions,
  mint: Key,
  { remark, label }: Waiting,
): Promise<boolean> {
  const { kind, text } =
    remark.buysOption === true
      ? await tradeOption(voice, optionsVenue, createRandom(`option:${label}`), remark)
      : remark;
  const order = remark.tradeAt === undefined ? null : await orderOf(voice, mint, remark.tradeAt, label);
  // A post of kind `trade` needs an order; without one it becomes an `update`.
  const post = kind === 'trade' && order === null ? { kind: 'update', text } : { kind, text, ...order };
  return (await voice.write('posts', post)) !== null;
}

/** The venue's name as the service has it, and a made-up order number there; null where the service names no venue. */
async function orderOf(voice: Voice, mint: Key, tokenAccount: Key, label: string) {
  const positions = (await voice.read(`/coins/${mint}/positions`))?.positions as
    | { venueAccount: string; venue: string | null }[]
    | undefined;
  const venue = positions?.find(({ venueAccount }) => venueAccount === tokenAccount)?.venue ?? null;
  if (venue === null) return null;
  const ref = String(Buffer.from(seededBytes(`order:${label}`, 32)).readUIntBE(0, 5));
  return { venue, ref };
}
