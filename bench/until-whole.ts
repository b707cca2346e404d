import { setTimeout as pause } from 'node:timers/promises';

const WITHIN_MS = 600_000;

/** Resolves once an API serves all of history. */
export async function untilWhole(url: string): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const answer = await fetch(`${url}/status`).catch(() => null);
    if (answer?.status === 200) {
      const { indexer } = (await answer.json()) as { indexer: { history: { complete: boolean } } };
      if (indexer.history.complete) return;
    }
    if (performance.now() > deadline) throw new Error('history was not read in time');
    await pause(500);
  }
}
