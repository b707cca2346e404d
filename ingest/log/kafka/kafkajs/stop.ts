import { createRequire } from 'node:module';

/** The part of kafkajs 2.2.4 that fetches batches and hands them out; its types do not have it. */
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
 * A consumer makes its fetchers anew when brokers come and go. If it is stopped while it waits for the old ones to end,
 * it still starts the new ones, and the stopped runner answers each fetch at once with nothing, for ever: no timer of
 * the process has its turn again, and only SIGKILL ends it. So a fetch of a stopped runner stops the fetchers.
 */
prototype.fetch = function (nodeId) {
  if (!this.running) void this.fetchManager.stop();
  return fetch.call(this, nodeId);
};
