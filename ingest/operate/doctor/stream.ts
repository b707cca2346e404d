import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../../runtime/config/config.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { createGeyserClient, type GeyserClient, type Subscription } from '../../stream/geyser/client.ts';
import { mayBeTheRequest, namedCap, StreamEndedError } from '../../stream/geyser/ended.ts';
import type { Update } from '../../stream/geyser/update.ts';
import type { Finding } from './finding.ts';
import { noStream, ON_LAGGING, saysLagging } from './stream-advice.ts';

/** How far back a replay is tried, and how many addresses. */
const SLOTS_BACK = 8n;
const ADDRESSES = 1_000;
/** For what should come within a slot. */
const WITHIN_MS = 4_000;

/**
 * Subscribes as ingest does, waits for the first slot, then tries a replay and a filter of addresses.
 * @throws Error with what ended the stream before a slot came, and what to do
 */
export async function checkStream(
  endpoint: string,
  { yellowstoneXToken, programId, commitment }: Config,
  signal: AbortSignal,
): Promise<Finding[]> {
  const client = createGeyserClient(endpoint, yellowstoneXToken);
  try {
    const core = { programId, addresses: [], commitment, fromSlot: null };
    const first = await firstOf(client, core, ({ type }) => type === 'blockMeta', signal);
    const slot = 'slot' in first ? first.slot : 0n;
    const version = await client.version().catch(() => 'no version');
    return [
      { mark: 'ok', text: `streams, slot ${slot}, ${version}` },
      await replay(client, { ...core, fromSlot: slot - SLOTS_BACK }, signal),
      await filters(client, { ...core, programId: null }, signal),
    ];
  } catch (error) {
    if (!(error instanceof StreamEndedError)) throw error;
    throw new Error(noStream(error), { cause: error });
  } finally {
    client.close();
  }
}

/** The first update that is wanted. @throws StreamEndedError, also where none comes before the signal */
function firstOf(
  client: GeyserClient,
  subscription: Subscription,
  isWanted: (update: Update) => boolean,
  signal: AbortSignal,
): Promise<Update> {
  return new Promise((resolve, reject) => {
    const stream = client.subscribe(subscription, {
      onUpdate: (update) => {
        if (!isWanted(update)) return;
        resolve(update);
        stop();
      },
      onEnd: (error) => {
        signal.removeEventListener('abort', stop);
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
): Promise<Update | StreamEndedError> {
  const late = new AbortController();
  const within = AbortSignal.any([signal, late.signal]);
  const timer = delay(WITHIN_MS, undefined, { signal, ref: false }).then(
    () => late.abort(),
    () => undefined,
  );
  try {
    return await firstOf(client, subscription, ({ type }) => type === 'blockMeta', within);
  } catch (error) {
    if (error instanceof StreamEndedError) return error;
    throw error;
  } finally {
    void timer;
  }
}

const NO_REPLAY =
  'what a disconnection misses is a gap that is read over SOLANA_RPC_URL; have the provider switch replay on';

async function replay(client: GeyserClient, from: Subscription, signal: AbortSignal): Promise<Finding> {
  const first = await client.firstReplayed().catch(() => null);
  const since = first === null ? '' : `, kept from slot ${first}`;
  const tried = await outcome(client, from, signal);
  const untried = triedInVain('replay', tried);
  if (untried !== null) return untried;
  if (tried instanceof StreamEndedError)
    return { mark: 'note', text: `replay: none (${tried.message}): ${NO_REPLAY}` };
  const isReplayed = 'slot' in tried && tried.slot < (from.fromSlot as bigint) + SLOTS_BACK;
  if (!isReplayed)
    return { mark: 'note', text: `replay: taken, and nothing of the past comes: ${NO_REPLAY}` };
  return { mark: 'ok', text: `replay: ${SLOTS_BACK} slots back${since}` };
}

/** Where the stream ended for what has nothing to do with what was asked for. */
function triedInVain(what: 'replay' | 'filters', tried: Update | StreamEndedError): Finding | null {
  if (!(tried instanceof StreamEndedError) || tried.cancelled) return null;
  if (!saysLagging(tried) && mayBeTheRequest(tried)) return null;
  const advice = saysLagging(tried) ? ON_LAGGING : 'run it again';
  return { mark: 'note', text: `${what}: not known, for the stream ended (${tried.message}): ${advice}` };
}

/** Addresses that nobody has a key of. */
const nobodies = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    encodeBase58(createHash('sha256').update(`nobody ${at}`).digest()),
  );

async function filters(client: GeyserClient, base: Subscription, signal: AbortSignal): Promise<Finding> {
  let refusal: string | null = null;
  let most = ADDRESSES;
  while (most > 0) {
    const tried = await outcome(client, { ...base, addresses: nobodies(most) }, signal);
    if (!(tried instanceof StreamEndedError)) break;
    const untried = triedInVain('filters', tried);
    if (untried !== null) return untried;
    refusal = tried.message;
    if (signal.aborted || tried.cancelled)
      return { mark: 'note', text: `filters: no answer to ${most} addresses in time: run it again` };
    const named = namedCap(tried);
    most = named !== null && named < most ? named : Math.floor(most / 2);
  }
  if (refusal === null) return { mark: 'ok', text: `filters: ${ADDRESSES} addresses and more` };
  const what = most === 0 ? 'no addresses' : `${most} addresses`;
  const text = `filters: takes ${what} (${refusal}): accounts beyond are read over RPC in turns and are older; have accounts.account_max raised`;
  return { mark: 'note', text };
}
