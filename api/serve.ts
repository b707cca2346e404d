import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Config } from '../runtime/config/config.ts';
import { proxyAdvice } from '../runtime/config/proxy-advice.ts';
import { secretsOf } from '../runtime/config/secrets.ts';
import { RetryableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/process/log.ts';
import type { AgentSide } from './agent/side.ts';
import { createApp } from './app.ts';
import type { Bound } from './http/listen.ts';
import type { Latest } from './latest/latest.ts';
import { readSettings } from './settings.ts';
import { warmUp } from './warm-up.ts';

export interface ApiParts {
  config: Config;
  latest: Latest;
  agents: Pick<AgentSide, 'routes' | 'readPosts' | 'numberedPosts'>;
  logger: Logger;
  registry: Registry;
  /** The listening server that the API is served on. */
  bound: Bound;
  /** See AppOptions. */
  postsWaitMs?: number | undefined;
  isLocalChain?: boolean;
  signal: AbortSignal;
}

/**
 * Exports how old the state is that answers are made of, before the first connection the time since the start; 0 while
 * nobody asks.
 */
export function watchStateAge(latest: Pick<Latest, 'monitoredAge'>, registry: Registry): void {
  new Gauge({
    name: 'api_state_age_seconds',
    help: 'Time since the store last answered this process, or since its start where it never did; 0 while nobody asks it for anything.',
    registers: [registry],
    collect() {
      this.set(latest.monitoredAge() / 1000);
    },
  });
}

/** Exports whether all policies are being read into memory, so that pages not asked for before take longer. */
export function watchFolding(latest: Pick<Latest, 'isFolding'>, registry: Registry): void {
  new Gauge({
    name: 'api_folding',
    help: '1 while all policies are being read into memory, behind a start above all: what nobody asked for before is asked of the store meanwhile.',
    registers: [registry],
    collect() {
      this.set(latest.isFolding() ? 1 : 0);
    },
  });
}

/** Serves the API. */
export function serveApi(parts: ApiParts): void {
  const { config, logger } = parts;
  const advice = proxyAdvice(config);
  if (advice !== null) logger.warn(advice);
  const seconds = new Histogram({
    name: 'api_answer_seconds',
    help: 'Time to answer a request, by route and status.',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    registers: [parts.registry],
  });
  watchStateAge(parts.latest, parts.registry);
  watchFolding(parts.latest, parts.registry);
  const settings = readSettings(config);
  const app = createApp({
    latest: parts.latest,
    settings,
    clock: Date.now,
    agentRoutes: parts.agents.routes,
    readPosts: parts.agents.readPosts,
    numberedPosts: parts.agents.numberedPosts,
    postsWaitMs: parts.postsWaitMs,
    isLocalChain: parts.isLocalChain,
    secrets: secretsOf(config),
    trustProxy: config.trustProxy,
    onError: (error, path) => {
      // For a dependency that is away the sentence is enough; any other error is a bug, and its stack is needed.
      const told = error instanceof RetryableError ? { reason: error.message } : { err: error };
      logger.error({ ...told, path }, 'a request failed');
    },
    onAnswered: (_method, route, status, took) => seconds.labels(route, String(status)).observe(took),
  });
  parts.bound.serve(app);
  void warmUp(parts.latest, settings, parts.signal);
}
