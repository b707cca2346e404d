import './no-pretenuring.ts';
import type { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import { type Command, readFlags } from '../config/flags.ts';
import { loadConfig } from '../config/load.ts';
import { aborted, doneWithin, runMain } from './lifecycle.ts';
import { createLogger, type Logger } from './log.ts';
import { createRegistry, serveMetrics } from './metrics.ts';
import { createReadiness, type Probe } from './readiness.ts';

/** What a long-running process is given. */
export interface Service {
  config: Config;
  logger: Logger;
  registry: Registry;
  /** Aborted when the process is asked to stop. */
  signal: AbortSignal;
  /** Has `/ready` name something as missing while its probe throws or does not answer. */
  needs(name: string, probe: Probe): void;
  /** Has `/ready` show these words as a note, unless they are null: the process is ready all the same. */
  notes(name: string, words: () => string | null): void;
}

/** How long an orderly end may take where Kafka or a database does not answer. */
const END_WITHIN_MS = 8_000;

/**
 * Runs a long-running process: configuration, structured log, `/live`, `/ready` and `/metrics` on METRICS_PORT from
 * the first moment on, so that they tell what it waits for. When it is asked to stop it does not wait for servers that
 * do not answer: what they have not acknowledged comes again at the next start.
 */
export async function runService(
  name: string,
  command: Command,
  run: (service: Service) => Promise<void>,
): Promise<void> {
  await runMain(async (signal) => {
    readFlags(command, process.argv.slice(2));
    const config = loadConfig();
    const registry = createRegistry(name);
    const probes = new Map<string, Probe>();
    const told = new Map<string, () => string | null>();
    const { host, metricsPort } = config;
    const metrics =
      metricsPort === null
        ? null
        : await serveMetrics(registry, createReadiness(probes), host, metricsPort, notesOf(told));
    try {
      const logger = createLogger(config.logLevel, name);
      const notes: Service['notes'] = (what, words) => void told.set(what, words);
      const needs: Service['needs'] = (what, probe) => void probes.set(what, probe);
      const running = run({ config, logger, registry, signal, needs, notes });
      await Promise.race([running, aborted(signal)]);
      if (!(await doneWithin(END_WITHIN_MS, running)))
        logger.warn('a server that this process depends on does not answer: ending without waiting for it');
    } finally {
      await metrics?.close();
    }
  });
}

const notesOf = (told: ReadonlyMap<string, () => string | null>) => () =>
  [...told].flatMap(([name, words]) => {
    const text = words();
    return text === null ? [] : [`${name}: ${text}`];
  });
