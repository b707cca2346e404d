import '../runtime/process/node-version.ts';
import '../runtime/process/no-pretenuring.ts';
import path from 'node:path';
import { bind } from '../api/http/listen.ts';
import { streamWords } from '../ingest/stream/state.ts';
import { type Config, publicUrlOf, required } from '../runtime/config/config.ts';
import { readFlags } from '../runtime/config/flags.ts';
import { loadConfig } from '../runtime/config/load.ts';
import { lockDataDir } from '../runtime/process/data-lock.ts';
import { doneWithin, runMain } from '../runtime/process/lifecycle.ts';
import { createLogger } from '../runtime/process/log.ts';
import { createRegistry, type MetricsServer, serveMetrics } from '../runtime/process/metrics.ts';
import { createReadiness, NotReadyError, type Probe } from '../runtime/process/readiness.ts';
import type { Counters } from './counters.ts';
import { type DevnetChild, startDevnet } from './devnet-child.ts';
import { localUrl } from './local-url.ts';
import { logLevelOf } from './log-level.ts';
import { onDevnet } from './on-devnet.ts';
import { showProgress } from './screen.ts';
import { startSystem } from './system.ts';

const COMMAND = {
  usage: 'npm start',
  about:
    'The whole system on this machine: a local chain with its venues (or the chain of YELLOWSTONE_ENDPOINT),\ningestion, the stores and the API. All data is kept in DATA_DIR, and the next start continues from it.\nThe explorer is at http://HOST:PORT/explorer/, by default http://127.0.0.1:8080/explorer/.',
  flags: {
    policies: { type: 'string', value: 'N', help: 'policies of the local chain (default 40)' },
    history: {
      type: 'string',
      value: 'BLOCKS',
      help: 'blocks that a fresh local chain starts with (default 600)',
    },
    past: {
      type: 'string',
      value: 'HOURS',
      help: 'time that these blocks span; 0: one block directly after the other (default 48)',
    },
    rate: { type: 'string', value: 'N', help: 'actions per slot of the local chain (default 2)' },
    seed: { type: 'string', value: 'TEXT', help: 'seed of the local chain (default 1)' },
    provider: {
      type: 'string',
      value: 'MODES',
      help: "limits of the local chain's stream, as in replay=off,addresses=10 (default none)",
    },
  },
} as const;

/** How long the stages may take to end once one has failed. */
const STOP_FAILED_MS = 10_000;

/** What `/ready` asks before there is a store to ask. */
const notOpenedYet: Probe = async () => {
  throw new NotReadyError('not opened yet');
};

await runMain(async (signal) => {
  const flags = readFlags(COMMAND, process.argv.slice(2));
  const config = loadConfig();
  const logger = createLogger(logLevelOf(config), 'start');
  const unlock = lockDataDir(path.resolve(config.dataDir));
  const registry = createRegistry('start');
  const probes = new Map<string, Probe>([
    ['ClickHouse', notOpenedYet],
    ['Postgres', notOpenedYet],
  ]);
  let devnet: DevnetChild | null = null;
  let metrics: MetricsServer | null = null;
  let counters: Counters | null = null;
  const failing = new AbortController();
  const stages = AbortSignal.any([signal, failing.signal]);
  /** Only a note of `/ready`: the API serves what it has, whether or not the stream is connected. */
  const notes = () => {
    const words = counters === null ? null : streamWords(counters.stream);
    return words === null ? [] : [`stream: ${words}`];
  };
  try {
    if (config.metricsPort !== null)
      metrics = await serveMetrics(registry, createReadiness(probes), config.host, config.metricsPort, notes);
    // First of all, so that an address that is taken is reported before anything is started.
    const api = await bind(config.host, config.port, { trustProxy: config.trustProxy });
    if (config.yellowstoneEndpoint === null)
      devnet = await startDevnet(
        path.resolve(config.dataDir),
        { api: localUrl(config.host, api.port), publicUrl: publicUrlOf(config, api.port) },
        devnetFlags(flags),
      );
    const settings = devnet === null ? followed(config) : onDevnet(config, devnet.addresses);
    const needs = (what: string, probe: Probe) => void probes.set(what, probe);
    const localRpc = devnet?.addresses.rpc ?? null;
    const system = await startSystem(settings, { api, logger, signal: stages, registry, needs, localRpc });
    ({ counters } = system);
    try {
      await showProgress(system, settings, signal, devnet);
    } catch (error) {
      // A stage or the local chain failed. The other stages must end too: while they use the engine, it may never let
      // the process exit.
      failing.abort();
      await doneWithin(STOP_FAILED_MS, system.stop()).catch(() => undefined);
      throw error;
    }
    await system.stop();
  } finally {
    await metrics?.close();
    await devnet?.stop();
    unlock();
  }
});

function devnetFlags(flags: Record<string, string | boolean | undefined>): string[] {
  const given = (name: string, unset: string) => `--${name}=${flags[name] ?? unset}`;
  return [
    given('policies', '40'),
    given('history', '600'),
    given('past', '48'),
    given('rate', '2'),
    given('seed', '1'),
    given('provider', ''),
  ];
}

function followed(config: Config): Config {
  required(config, { solanaRpcUrl: 'history and the agents need a JSON-RPC node beside the stream' });
  return config;
}
