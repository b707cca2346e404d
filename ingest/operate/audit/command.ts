import { existsSync } from 'node:fs';
import path from 'node:path';
import { openEmbedded, type Store } from '../../../clickhouse/client.ts';
import { ofIndexedChain } from '../../../clickhouse/queries/progress/indexed-chain.ts';
import { isOfProgram } from '../../../clickhouse/queries/progress/indexed-program.ts';
import { schemaMustBeCurrent } from '../../../clickhouse/schema/migrate.ts';
import { openServing } from '../../../clickhouse/serving/serving.ts';
import type { Config } from '../../../runtime/config/config.ts';
import { readFlags } from '../../../runtime/config/flags.ts';
import { loadConfig } from '../../../runtime/config/load.ts';
import { ConfigError, messageOf } from '../../../runtime/errors.ts';
import { lockDataDir, refuseHeld } from '../../../runtime/process/data-lock.ts';
import { notReached } from '../../../runtime/process/not-reached.ts';
import { printable } from '../../../runtime/process/printable.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import { createReport } from './report.ts';
import { runAudit } from './run.ts';
import { throttledStore } from './throttled-store.ts';

const COMMAND = {
  usage: 'npm run audit',
  about:
    'Recomputes what is served from the facts, compares it with the counters and accounts of the chain, and prints\nevery difference. Changes nothing. Runs beside a live system. Exits with 1 if something differs,\nif nothing of some kind could be compared, or if a gap of history prevented a comparison.\nAccounts are compared only if SOLANA_RPC_URL is set.',
  flags: {},
} as const;

const PAUSE_MS = 500;
const WAIT_MS = 30_000;
const PATIENCE_MS = 2_500;

/** `npm run audit`. @throws ConfigError where something differs, or what was to be compared could not be. */
export async function audit(signal: AbortSignal): Promise<void> {
  readFlags(COMMAND, process.argv.slice(2));
  const config = loadConfig();
  const print = (line: string) => void process.stdout.write(`${printable(line)}\n`);
  const report = createReport(print);
  const { store, close } = await open(config, signal);
  try {
    const { solanaRpcUrl: url, commitment, programId, programStartSlot: startSlot } = config;
    // An audit changes nothing: where no program is declared for the database it does not declare one.
    await isOfProgram(store, programId);
    const rpc = url === null ? null : ofIndexedChain(createRpc(url, { commitment }), () => store, print);
    if (rpc === null) print('SOLANA_RPC_URL is not set: account states are not compared with the chain');
    const waits = { pauseMs: PAUSE_MS, waitMs: WAIT_MS, patienceMs: PATIENCE_MS };
    await runAudit({ store, rpc, programId, startSlot, report, signal, ...waits }).catch((error) => {
      if (!(error instanceof RpcError)) throw error;
      throw new ConfigError(`the node of SOLANA_RPC_URL does not answer as it should: ${error.message}`);
    });
  } finally {
    await close();
  }
  print(report.summary());
  if (signal.aborted) throw new ConfigError('stopped before everything was compared');
  if (report.differences() > 0) throw new ConfigError('what is served is not what it should be');
  const shortfall = report.shortfall();
  if (shortfall !== null) throw new ConfigError(shortfall);
}

/** The serving database of a server, queried gently, or the embedded engine, which no other process may have open. */
async function open(config: Config, signal: AbortSignal): Promise<{ store: Store; close(): Promise<void> }> {
  const { clickhouseUrl, clickhouseCluster } = config;
  if (clickhouseUrl !== null) {
    const store = await openServing(clickhouseUrl, clickhouseCluster, 'read').catch(
      notReached('CLICKHOUSE_URL'),
    );
    await schemaMustBeCurrent(store);
    return { store: throttledStore(store, signal), close: () => store.close() };
  }
  const dataDir = path.resolve(config.dataDir);
  // Before the directory is looked for: a process that holds DATA_DIR may be about to make it.
  refuseHeld(dataDir);
  const directory = path.join(dataDir, 'clickhouse');
  if (!existsSync(directory)) {
    throw new ConfigError(
      `DATA_DIR ${config.dataDir} holds no index, and CLICKHOUSE_URL is not set: there is nothing to audit`,
    );
  }
  const unlock = lockDataDir(dataDir);
  const store = await openEmbedded(directory);
  await schemaMustBeCurrent(store).catch((error) => {
    throw new ConfigError(
      `${messageOf(error)}; npm start brings the engine in DATA_DIR up to date by itself`,
    );
  });
  return {
    store,
    close: async () => {
      await store.close();
      unlock();
    },
  };
}
