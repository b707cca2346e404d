import { setTimeout as pause } from 'node:timers/promises';
import { createGeyserClient } from '../ingest/stream/geyser/client.ts';
import type { Update } from '../ingest/stream/geyser/update.ts';
import { decodeAccount } from '../schemas/program/accounts.ts';
import { encodeBase58 } from '../schemas/solana/base58.ts';
import { deploy } from './support/deployment.ts';
import { percentile } from './support/percentile.ts';
import type { Row } from './support/row.ts';

const SEEN_EVERY_MS = 5;
/** How long the stream is watched to find a policy with frequent claims. */
const CHOOSE_MS = 8_000;
/** Enough that the actions of a slot hit many accounts: an account has one update in a slot, however often written. */
const POLICIES = '150';
/** Enough for all policies to be made: about one in two slots. */
const PAST_SLOTS = '400';

interface Sent {
  value: string;
  slot: bigint;
  /** When the update arrived, by `performance.now()`. */
  at: number;
}

/** Subscribes beside the indexer and notes when each value of each policy's `feesClaimed` arrived. */
function watchStream(endpoint: string, programId: string) {
  const client = createGeyserClient(endpoint, null);
  const sent = new Map<string, Sent[]>();
  /** When each slot's block meta arrived. */
  const ended = new Map<bigint, number>();
  const onUpdate = (update: Update) => {
    const now = performance.now();
    if (update.type === 'account') {
      const account = decodeAccount(update.data);
      if (account.type !== 'Policy') return;
      const mint = encodeBase58(account.mint);
      const value = account.feesClaimed.toString();
      const values = sent.get(mint) ?? [];
      sent.set(mint, values);
      // An update between two claims has the same value: other fields changed.
      if (value !== values.at(-1)?.value) values.push({ value, slot: update.slot, at: now });
    } else if (update.type === 'blockMeta') ended.set(update.slot, now);
  };
  const stream = client.subscribe(
    { programId, addresses: [], commitment: 'confirmed', fromSlot: null },
    { onUpdate, onEnd: () => {} },
  );
  return {
    sent,
    ended,
    busiest: () => [...sent].sort(([, a], [, b]) => b.length - a.length)[0]?.[0],
    stop: () => {
      stream.cancel('done');
      client.close();
    },
  };
}

/** Polls the API every few milliseconds and notes when each value of the counter was first served. */
async function watchApi(url: string, mint: string, signal: AbortSignal): Promise<Map<string, number>> {
  const served = new Map<string, number>();
  while (!signal.aborted) {
    const answer = await fetch(`${url}/coins/${mint}`);
    const body = (await answer.json()) as { counters?: { feesClaimedQuote: { value: string | null } } };
    const value = body.counters?.feesClaimedQuote.value;
    if (value != null && !served.has(value)) served.set(value, performance.now());
    await pause(SEEN_EVERY_MS);
  }
  return served;
}

/** How many updates the log has acknowledged so far. */
async function records(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = [...text.matchAll(/^stream_records_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Measures from an update sent to its figure served, through every process of a deployment, all on this machine. */
export async function benchFreshness(seconds: number, rate: number): Promise<Row[]> {
  const chain = { policies: POLICIES, history: PAST_SLOTS, rate: String(rate), seed: 'fresh' };
  const { url, metricsPort, geyser, programId, stop: stopAll } = await deploy(chain);
  try {
    const stream = watchStream(geyser, programId);
    await pause(CHOOSE_MS);
    const mint = stream.busiest();
    if (mint === undefined) throw new Error('no policy was written');
    const stop = new AbortController();
    const before = await records(metricsPort);
    const since = performance.now();
    const watching = watchApi(url, mint, stop.signal);
    await pause(seconds * 1000);
    const perSecond = ((await records(metricsPort)) - before) / seconds;
    stream.stop();
    await pause(3_000);
    stop.abort();
    const served = await watching;
    const behind = (stream.sent.get(mint) ?? []).flatMap(({ value, slot, at }) => {
      if (at < since) return [];
      const [shown, end] = [served.get(value), stream.ended.get(slot)];
      return shown === undefined || end === undefined ? [] : [shown - Math.max(at, end)];
    });
    if (behind.length < 20) throw new Error(`only ${behind.length} changes were served: no percentile`);
    behind.sort((a, b) => a - b);
    const p99 = percentile(behind, 0.99);
    return [
      { name: 'updates/s into the log', value: perSecond.toFixed(0), ok: null },
      { name: 'freshness median, ms', value: percentile(behind, 0.5).toFixed(0), ok: null },
      { name: `freshness p99 of ${behind.length}, ms (bar 1000)`, value: p99.toFixed(0), ok: p99 < 1000 },
    ];
  } finally {
    await stopAll();
  }
}
