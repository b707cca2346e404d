import { createRequire } from 'node:module';

/** What kafkajs 2.2.4 fetches and hands out batches with; it has no types of it. */
export interface Runner {
  running: boolean;
  fetchManager: { stop(): Promise<void> };
  fetch(nodeId: number): Promise<unknown[]>;
}

const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
  prototype: Runner;
};
const { fetch } = prototype;

/**
 * A consumer makes its fetchers anew when brokers come and go. One that is stopped while it waits for the former ones
 * goes on to start the new ones, and each is told at once, for ever, that there is nothing: no timer of the process
 * has its turn again, and only SIGKILL ends it. So what asks a stopped runner is stopped.
 */
prototype.fetch = function (nodeId) {
  if (!this.running) void this.fetchManager.stop();
  return fetch.call(this, nodeId);
};
