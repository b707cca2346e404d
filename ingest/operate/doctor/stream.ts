import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import type { Config } from '../../../runtime/config/config.ts';
import type { SlotTime } from '../../../runtime/rpc/same-chain.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { createGeyserClient, type GeyserClient, type Subscription } from '../../stream/geyser/client.ts';
import {
  limitsStreams,
  mayBeCausedByRequest,
  namedCap,
  refusesFilter,
  StreamEndedError,
} from '../../stream/geyser/ended.ts';
import { isParentless, PARENTLESS, type Update } from '../../stream/geyser/update.ts';
import type { Finding } from './finding.ts';
import { LAGGING_ADVICE, LIMIT_ADVICE, noStream, saysLagging } from './stream-advice.ts';

const ON_PARENTLESS =
  'no slot can be put in order, and nothing is indexed; ask the provider, or name another endpoint';

/** How far back a replay is tried, and how many addresses. */
const SLOTS_BACK = 8n;
const ADDRESSES = 1_000;
/** How long to wait for what should come within a slot. */
const WITHIN_MS = 4_000;
const PLACE_FREE_MS = 500;

/**
 * Subscribes as ingest does, waits for the first slot, then tries a replay and a filter of addresses.
 * @param onPlace called with that slot, or with null where none came
 * @throws Error with what ended the stream before a slot came, and what to do
 */
export async function checkStream(
  endpoint: string,
  { yellowstoneXToken, programId, commitment }: Config,
  signal: AbortSignal,
  onPlace: (place: SlotTime | null) => void,
): Promise<Finding[]> {
  const client = createGeyserClient(endpoint, yellowstoneXToken);
  try {
    const core = { programId, addresses: [], commitment, fromSlot: null };
    const first = await firstOf(client, core, signal);
    const slot = 'slot' in first ? first.slot : 0n;
    if (first.type === 'blockMeta') onPlace({ slot, time: first.blockTime });
    if (first.type === 'blockMeta' && isParentless(first))
      throw new Error(`${PARENTLESS}, slot ${slot}: ${ON_PARENTLESS}`);
    const version = await client.version().catch(() => 'no version');
    return [
      { mark: 'ok', text: `streams, slot ${slot}, ${version}` },
      await replay(client, core, slot, signal),
      ...(await filters(client, core, signal)),
    ];
  } catch (error) {
    if (!(error instanceof StreamEndedError)) throw error;
    throw new Error(noStream(error), { cause: error });
  } finally {
    onPlace(null);
    client.close();
  }
}

/** For a stream that is kept open behind its first block meta. */
interface Kept {
  until: AbortSignal;
  /** Called where the stream ended before `until`. */
  onEnd(error: StreamEndedError): void;
}

/**
 * The first block meta.
 * @param kept the stream is kept until the signal of this is aborted; null: it is ended at once.
 * @throws StreamEndedError, also where none comes before the signal
 */
function firstOf(
  client: GeyserClient,
  subscription: Subscription,
  signal: AbortSignal,
  kept: Kept | null = null,
): Promise<Update> {
  return new Promise((resolve, reject) => {
    const stream = client.subscribe(subscription, {
      onUpdate: (update) => {
        if (update.type !== 'blockMeta') return;
        resolve(update);
        if (kept === null) stop();
        else kept.until.addEventListener('abort', stop, { once: true });
      },
      onEnd: (error) => {
        signal.removeEventListener('abort', stop);
        if (!error.cancelled) kept?.onEnd(error);
        reject(error);
      },
    });
    const stop = () => stream.cancel('no slot came in time');
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

async function outcome(
  client: GeyserClient,
  subscription: Subscription,
  signal: AbortSignal,
  kept: Kept | null = null,
): Promise<Update | StreamEndedError> {
  const tried = await once(client, subscription, signal, kept);
  // The provider may still count a stream that was just ended. Only this timer keeps the process alive meanwhile.
  if (!(tried instanceof StreamEndedError) || tried.code !== status.RESOURCE_EXHAUSTED) return tried;
  await delay(PLACE_FREE_MS, undefined, { signal }).catch(() => undefined);
  return once(client, subscription, signal, kept);
}

async function once(
  client: GeyserClient,
  subscription: Subscription,
  signal: AbortSignal,
  kept: Kept | null,
): Promise<Update | StreamEndedError> {
  const late = new AbortController();
  const within = AbortSignal.any([signal, late.signal]);
  const timer = delay(WITHIN_MS, undefined, { signal, ref: false }).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    return await firstOf(client, subscription, within, kept);
  } catch (error) {
    if (error instanceof StreamEndedError) return error;
    throw error;
  } finally {
    void timer;
  }
}

const NO_REPLAY =
  'what a disconnection misses is a gap that is read over SOLANA_RPC_URL; have the provider switch replay on';

async function replay(
  client: GeyserClient,
  core: Subscription,
  tip: bigint,
  signal: AbortSignal,
): Promise<Finding> {
  // No stream knows of a slot before the first.
  const back = tip > SLOTS_BACK ? SLOTS_BACK : tip - 1n;
  const first = await client.firstReplayed().catch(() => null);
  const since = first === null ? '' : `, kept from slot ${first}`;
  const replayed = { ...core, fromSlot: tip - back };
  const tried = await outcome(client, replayed, signal);
  const untried = triedInVain('replay', tried);
  if (untried !== null && !(await isRefusedAlone(client, core, replayed, signal))) return untried;
  if (tried instanceof StreamEndedError)
    return { mark: 'note', text: `replay: none (${tried.message}): ${NO_REPLAY}` };
  const isReplayed = 'slot' in tried && tried.slot < tip;
  if (!isReplayed)
    return { mark: 'note', text: `replay: taken, and nothing of the past comes: ${NO_REPLAY}` };
  return { mark: 'ok', text: `replay: ${back} slots back${since}` };
}

/** Whether a server serves one request and refuses the other: whatever it says, that request is why it refuses. */
async function isRefusedAlone(
  client: GeyserClient,
  served: Subscription,
  other: Subscription,
  signal: AbortSignal,
): Promise<boolean> {
  const plain = await outcome(client, served, signal);
  if (plain instanceof StreamEndedError) return false;
  const tried = await outcome(client, other, signal);
  return (
    tried instanceof StreamEndedError && !saysLagging(tried) && !limitsStreams(tried) && !tried.cancelled
  );
}

/** A finding where the stream ended for a reason that has nothing to do with what was asked for; else null. */
function triedInVain(what: 'replay' | 'filters', tried: Update | StreamEndedError): Finding | null {
  if (!(tried instanceof StreamEndedError) || tried.cancelled) return null;
  if (!saysLagging(tried) && !limitsStreams(tried) && mayBeCausedByRequest(tried)) return null;
  const advice = saysLagging(tried) ? LAGGING_ADVICE : limitsStreams(tried) ? LIMIT_ADVICE : 'run it again';
  return { mark: 'note', text: `${what}: not known, for the stream ended (${tried.message}): ${advice}` };
}

/** Addresses that nobody has a key of. */
const nobodies = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    encodeBase58(createHash('sha256').update(`nobody ${at}`).digest()),
  );

/** Tries a stream of addresses beside that of the program, as ingest does. */
async function filters(client: GeyserClient, core: Subscription, signal: AbortSignal): Promise<Finding[]> {
  const base = { ...core, programId: null };
  const until = new AbortController();
  let lost: StreamEndedError | null = null;
  const kept: Kept = {
    until: AbortSignal.any([signal, until.signal]),
    onEnd: (error) => {
      lost = error;
    },
  };
  await outcome(client, core, signal, kept);
  lost = null;
  const beside = await outcome(client, { ...base, addresses: nobodies(ADDRESSES) }, signal);
  until.abort();
  if (!(beside instanceof StreamEndedError))
    return [lost === null || saysLagging(lost) ? ALL_TAKEN : oneStream(lost)];
  const alone = await mostTaken(client, base, signal);
  return alone === ALL_TAKEN ? [oneStream(beside)] : [alone];
}

const ALL_TAKEN: Finding = { mark: 'ok', text: `filters: ${ADDRESSES} addresses and more` };
const OLDER = 'followed accounts are read over RPC in turns and are older';

const oneStream = ({ message }: StreamEndedError): Finding => ({
  mark: 'note',
  text: `filters: ${ADDRESSES} addresses and more, yet not beside another stream (${message}): ${OLDER}; end other streams of this token, or take a plan with two at a time`,
});

const noneTaken = (what: string): Finding => ({
  mark: 'note',
  text: `filters: ${what}: while no stream of addresses comes about ${OLDER}; run it again, or ask the provider`,
});

async function mostTaken(client: GeyserClient, base: Subscription, signal: AbortSignal): Promise<Finding> {
  let refusal: string | null = null;
  let most = ADDRESSES;
  while (most > 0) {
    const tried = await outcome(client, { ...base, addresses: nobodies(most) }, signal);
    if (!(tried instanceof StreamEndedError)) break;
    if (saysLagging(tried)) return triedInVain('filters', tried) as Finding;
    if (tried.cancelled) return noneTaken(`no answer to ${most} addresses in time`);
    if (!mayBeCausedByRequest(tried) || limitsStreams(tried) || (most === 1 && !refusesFilter(tried)))
      return noneTaken(`none (${tried.message})`);
    refusal = tried.message;
    const named = namedCap(tried);
    most = named !== null && named < most ? named : Math.floor(most / 2);
  }
  if (refusal === null) return ALL_TAKEN;
  const what = most === 0 ? 'no addresses' : `${most} addresses`;
  const text = `filters: takes ${what} (${refusal}): accounts beyond are read over RPC in turns and are older; have accounts.account_max raised`;
  return { mark: 'note', text };
}
