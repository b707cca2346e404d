import type { Store } from '../../../../clickhouse/client.ts';
import { appliedState } from '../../../../clickhouse/queries/progress/index-state.ts';
import { appliedPosition, openGaps } from '../../../../clickhouse/queries/progress/stream-store.ts';
import { type Chain, createChain } from '../../../../devnet/chain/chain.ts';
import { serveGeyser } from '../../../../devnet/geyser/server.ts';
import { createLife } from '../../../../devnet/life/life.ts';
import { serveRpc } from '../../../../devnet/rpc/server.ts';
import { SETTLED_AFTER } from '../../../../ingest/history/prove-top.ts';
import { createMemoryLog } from '../../../../ingest/log/in-process.ts';
import { createMaterialiser } from '../../../../ingest/materialise/materialiser.ts';
import { createReport } from '../../../../ingest/operate/audit/report.ts';
import { runAudit } from '../../../../ingest/operate/audit/run.ts';
import { storedState } from '../../../../ingest/stream/stored-state.ts';
import { runStream } from '../../../../ingest/stream/stream.ts';
import { createLogger } from '../../../../runtime/process/log.ts';
import { retryUntilDone } from '../../../../runtime/retry.ts';
import { createRpc, type Rpc } from '../../../../runtime/rpc/rpc.ts';
import { decodeKey } from '../../../../schemas/solana/base58.ts';
import { awaited } from '../../../support/awaited.ts';
import { embeddedDatabase } from '../../../support/embedded.ts';

export interface Audited {
  /** The lines of differences. */
  lines: string[];
  summary: string;
}

/** A local chain, streamed into a database of its own, and audits of it. */
export interface AuditStage {
  chain: Chain;
  store: Store;
  rpc: Rpc;
  rpcUrl: string;
  live(blocks: number): Promise<void>;
  /** Resolves once another batch is applied. */
  nextBatch(): Promise<void>;
  /** Resolves once the index is at the tip and whole. */
  settled(): Promise<void>;
  /** Ends the stream and the materialiser; the chain and the database stay. */
  stopWriting(): Promise<void>;
  audit(options?: { rpc?: Rpc | null; waitMs?: number; patienceMs?: number }): Promise<Audited>;
  close(): Promise<void>;
}

const AMOUNT_AT = 64;

/** Token accounts that were read over RPC and whose amount has changed since. */
async function olderBalances(store: Store, chain: Chain): Promise<string[]> {
  const read = await store.query<{ address: string; amount: string }>(
    `SELECT address, amount FROM token_accounts FINAL WHERE source = 'rpc' AND exists = 1`,
  );
  return read.flatMap(({ address, amount }) => {
    const now = chain.account(decodeKey(address) as Uint8Array);
    return now === null || Buffer.from(now.data).readBigUInt64LE(AMOUNT_AT) === BigInt(amount)
      ? []
      : [address];
  });
}

/** @param openStore another database than one of this process, which is asked for less. */
export async function openAuditStage(
  seed: string,
  policies: number,
  openStore = () => embeddedDatabase('several'),
): Promise<AuditStage> {
  const chain = createChain({ dir: null, seed, genesisTime: 1_760_000_000_000 });
  const life = createLife(chain, { seed, policies, rate: 6 });
  const geyser = await serveGeyser({ ledger: chain, port: 0 });
  const rpcServer = await serveRpc({ ledger: chain, port: 0 });
  const store = await openStore();
  const logger = createLogger(process.env.LOG_LEVEL ?? 'silent', 'test');
  const rpc = createRpc(rpcServer.url, { commitment: 'confirmed' });
  const log = createMemoryLog({ startOffsets: {} });
  let applied = Promise.withResolvers<void>();
  const materialise = createMaterialiser({
    store,
    programId: decodeKey(chain.programId) as Uint8Array,
    onApplied: () => {
      applied.resolve();
      applied = Promise.withResolvers();
    },
  });
  const stop = new AbortController();
  const stopLog = new AbortController();
  const writing = [
    log.run(async (batch) => {
      await retryUntilDone('writing a batch', () => materialise(batch), { signal: stopLog.signal, logger });
    }, stopLog.signal),
    runStream({
      ...{ endpoint: `127.0.0.1:${geyser.port}`, xToken: null, commitment: 'confirmed', log, rpc, logger },
      programId: chain.programId,
      launchpadProgramId: 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj',
      store: { ...storedState(store), position: () => appliedPosition(store, 2) },
      signal: stop.signal,
    }),
  ] as const;

  const live = async (blocks: number) => {
    for (let made = 0; made < blocks; made += 1) {
      await chain.produce(life.next());
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  let stopped = false;
  const stopWriting = async () => {
    if (stopped) return;
    stopped = true;
    stop.abort();
    await writing[1];
    stopLog.abort();
    await writing[0];
  };
  return {
    chain,
    store,
    rpc,
    rpcUrl: rpcServer.url,
    live,
    nextBatch: () => applied.promise,
    stopWriting,
    settled: () =>
      awaited(async () => {
        const { slot, followed } = await appliedState(store);
        // A stream that connects after the last block receives nothing before the next.
        if (slot === '0') await live(1);
        const tip = chain.tip().slot.toString();
        if (slot !== tip || followed !== tip)
          throw new Error(`applied up to ${slot}, followed up to ${followed}, of ${tip}`);
        if ((await openGaps(store)).length > 0) {
          // History reads a gap only once the chain has gone on behind it.
          for (let made = 0; made < SETTLED_AFTER; made += 1) await chain.produce([]);
          throw new Error('a gap is open');
        }
        const [older] = await olderBalances(store, chain);
        if (older === undefined) return;
        // An address that came up a moment ago is read once its filter is applied, some slots later.
        await chain.produce([]);
        throw new Error(`${older} was written since it was read`);
      }),
    audit: async ({ rpc: chosen = rpc, waitMs = 10_000, patienceMs = 2_500 } = {}) => {
      const lines: string[] = [];
      const report = createReport((line) => lines.push(line));
      await runAudit({
        ...{ store, rpc: chosen, programId: chain.programId, startSlot: 0n, report },
        ...{ waitMs, patienceMs },
        signal: new AbortController().signal,
        pauseMs: 20,
      });
      return { lines, summary: report.summary() };
    },
    close: async () => {
      await stopWriting();
      await Promise.all([geyser.close(), rpcServer.close()]);
      chain.close();
      await store.close();
    },
  };
}
