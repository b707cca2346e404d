import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { openEmbedded } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { createMemoryLog } from '../../ingest/log/in-process.ts';
import { createMaterialiser } from '../../ingest/materialise/materialiser.ts';
import { createGeyserClient } from '../../ingest/stream/geyser/client.ts';
import { Slots } from '../../ingest/stream/slots/machine.ts';
import { runStream } from '../../ingest/stream/stream.ts';
import { createLogger } from '../../runtime/process/log.ts';
import type { RpcNodes } from '../../runtime/rpc/rpc.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { nothingStored } from '../../test/ingest/support/nothing-stored.ts';
import type { Row } from '../support/row.ts';

interface Feeder {
  child: ChildProcess;
  port: number;
  last: bigint;
  programId: string;
  slots: number;
  perSlot: { accounts: number; transactions: number };
}

async function startFeeder(slots: number): Promise<Feeder> {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'feeder.ts'), String(slots)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const line = await new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the feeder ended with ${code}`)));
  });
  const ready = JSON.parse(line) as Omit<Feeder, 'child' | 'last'> & { last: string };
  return { ...ready, child, last: BigInt(ready.last) };
}

/** Baseline: seconds until the last slot came through the client and the slot machine, with nothing after them. */
async function drain(feeder: Feeder): Promise<number> {
  const client = createGeyserClient(`127.0.0.1:${feeder.port}`, null);
  const slots = new Slots('confirmed', null);
  const startedAt = performance.now();
  await new Promise<void>((resolve, reject) => {
    const stream = client.subscribe(
      { programId: feeder.programId, addresses: [], commitment: 'confirmed', fromSlot: null },
      {
        onUpdate: (update) => {
          slots.take(update);
          if (slots.last === feeder.last) {
            resolve();
            stream.cancel('done');
          }
        },
        onEnd: (error) => reject(error),
      },
    );
  });
  client.close();
  return (performance.now() - startedAt) / 1000;
}

/** A node that answers nothing: only the stream is measured. */
const SILENT_NODE: RpcNodes = {
  alone: [],
  checked: () => SILENT_NODE,
  getAccountInfo: async () => ({ slot: 1n, account: null }),
  getMultipleAccounts: async (addresses) => ({ slot: 1n, accounts: addresses.map(() => null) }),
  getProgramAccounts: async () => ({ slot: 1n, accounts: [] }),
  getSignaturesForAddress: async () => [],
  getTransaction: async () => null,
  getSlot: async () => 1n << 40n,
  getBlockTime: async () => null,
  getFirstAvailableBlock: async () => 0n,
};

interface Whole {
  seconds: number;
  peakMb: number;
  /** Growth of resident memory while the store was held back, without the first seconds. */
  heldMb: number;
}

/** Runs the whole embedded pipeline until the last slot is in ClickHouse; for `holdSeconds` nothing is applied. */
async function whole(feeder: Feeder, holdSeconds: number): Promise<Whole> {
  const directory = mkdtempSync(path.join(tmpdir(), 'bench-'));
  const store = await openEmbedded(directory);
  await migrate(store, null);
  const log = createMemoryLog({ startOffsets: {} });
  const materialise = createMaterialiser({ store, programId: decodeKey(feeder.programId) as Uint8Array });
  const stop = new AbortController();
  const logger = createLogger('silent', 'bench');
  const rss = () => process.memoryUsage.rss() / 2 ** 20;
  let peakMb = rss();
  const watching = setInterval(() => {
    peakMb = Math.max(peakMb, rss());
  }, 50);
  let heldMb = 0;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  if (holdSeconds === 0) release();
  let done = () => {};
  const finished = new Promise<void>((resolve) => {
    done = resolve;
  });
  const reading = log.run(async (batch) => {
    await held;
    await materialise(batch);
    if (batch.topic !== 'accounts') return;
    if (batch.entries.some(({ record }) => record.kind === 'marker' && record.slot === feeder.last)) done();
  }, stop.signal);
  let startedAt = performance.now();
  const streaming = runStream({
    endpoint: `127.0.0.1:${feeder.port}`,
    xToken: null,
    programId: feeder.programId,
    launchpadProgramId: 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
    commitment: 'confirmed',
    rpc: SILENT_NODE,
    log,
    store: nothingStored,
    logger,
    signal: stop.signal,
  });
  if (holdSeconds > 0) {
    const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    await pause(Math.min(5, holdSeconds / 2));
    const before = rss();
    await pause(holdSeconds - Math.min(5, holdSeconds / 2));
    heldMb = rss() - before;
    startedAt = performance.now();
    release();
  }
  await finished;
  const seconds = (performance.now() - startedAt) / 1000;
  clearInterval(watching);
  stop.abort();
  await Promise.all([streaming, reading]);
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  return { seconds, peakMb, heldMb };
}

/** Measures reading the stream alone against the whole embedded pipeline, on the same bytes in one run. */
export async function benchPipeline(slots: number, holdSeconds: number): Promise<Row[]> {
  const feeder = await startFeeder(slots);
  try {
    const { accounts, transactions } = feeder.perSlot;
    const rate = (perSlot: number, seconds: number) => (perSlot * feeder.slots) / seconds;
    const text = (seconds: number) =>
      `${rate(accounts, seconds).toFixed(0)} account updates/s + ${rate(transactions, seconds).toFixed(0)} transactions/s`;
    const alone = await drain(feeder);
    const all = await whole(feeder, 0);
    const total = rate(accounts + transactions, all.seconds);
    const held = await whole(feeder, holdSeconds);
    return [
      { name: 'stream drain alone', value: text(alone), ok: null },
      { name: 'whole pipeline', value: text(all.seconds), ok: null },
      { name: 'whole pipeline, updates/s (bar 20000)', value: total.toFixed(0), ok: total >= 20_000 },
      { name: 'whole pipeline / drain alone', value: (alone / all.seconds).toFixed(2), ok: null },
      { name: 'peak RSS, MB (bar 800)', value: all.peakMb.toFixed(0), ok: all.peakMb < 800 },
      {
        name: `RSS growth, store held back ${holdSeconds} s, MB (bar 50)`,
        value: held.heldMb.toFixed(0),
        ok: held.heldMb < 50,
      },
    ];
  } finally {
    feeder.child.kill();
  }
}
