import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createAgent } from '../../../api/client/agent.ts';
import { ApiError } from '../../../api/client/http.ts';
import { percentile } from '../../../bench/support/percentile.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';

/** What honest clients experienced. */
export interface Met {
  requests: number;
  /** The readers' p99, in milliseconds. */
  p99: number;
  posts: number;
  /** -Infinity where /status never had a block time. */
  mostLagSeconds: number;
  problems: string[];
}

export interface Honest {
  url: string;
  mints: string[];
  agent: { mint: string; keyFile: string };
  seconds: number;
  /** Whether clients retry where they are refused or the store does not answer, as on a machine that is very busy. */
  patient: boolean;
}

const ANSWER_WITHIN_MS = 30_000;
const READERS = 4;
const BETWEEN_READS_MS = 40;
const BETWEEN_POSTS_MS = 3_000;
const ROUTES = ['', '/activity', '/positions', '/loop'];

/** Runs readers of a few pages each, an agent that writes, and a client that watches how far the index is behind. */
export async function honestClients({ url, mints, agent, seconds, patient }: Honest): Promise<Met> {
  const endsAt = performance.now() + seconds * 1000;
  const took: number[] = [];
  const lags: number[] = [];
  const met: Met = { requests: 0, p99: 0, posts: 0, mostLagSeconds: 0, problems: [] };
  const until = async (everyMs: number, work: (n: number) => Promise<void>, goesOn = () => false) => {
    for (let n = 0; performance.now() < endsAt || goesOn(); n += 1) {
      await work(n).catch((error: unknown) => met.problems.push(String(error).slice(0, 300)));
      await pause(everyMs);
    }
  };
  const from = (who: number) => ({ 'x-forwarded-for': `203.0.113.${who}` });

  const reader = (who: number) =>
    until(BETWEEN_READS_MS, async (n) => {
      const mint = mints[(n + who) % mints.length];
      const route = n % 5 === 4 ? '/rankings?limit=20' : `/coins/${mint}${ROUTES[n % ROUTES.length]}`;
      const startedAt = performance.now();
      let status = 0;
      let again = true;
      // An honest client comes again where it is told to: only a failure without that counts.
      do {
        const signal = AbortSignal.timeout(patient ? PATIENCE_MS : ANSWER_WITHIN_MS);
        const answer = await fetch(url + route, { headers: from(who), signal });
        const text = await answer.text();
        status = answer.status;
        again = status === 503 || (status === 500 && text.includes('the store has not answered'));
        if (again) await pause(1000 * Number(answer.headers.get('retry-after') ?? 1));
        // Refusals may come at once, so retries are limited by time and not by number.
      } while (again && patient && performance.now() - startedAt < PATIENCE_MS);
      took.push(performance.now() - startedAt);
      if (status !== 200) met.problems.push(`a reader got ${status} of ${route}`);
    });

  const writer = createAgent({
    ...{ url, mint: agent.mint, key: Uint8Array.from(JSON.parse(readFileSync(agent.keyFile, 'utf8'))) },
    fetch: (address, init) =>
      fetch(address as URL, {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), ...from(99) },
      }),
  });
  const write = async (n: number) => {
    try {
      await writer.post({ kind: 'update', text: `post ${n} at ${new Date().toISOString()}` });
      met.posts += 1;
    } catch (error) {
      if (!patient || !(error instanceof ApiError) || error.status !== 503) throw error;
    }
  };
  // Wait for at least one post: how long it takes depends on the machine.
  const hasNotWritten = () => patient && met.posts === 0 && met.problems.length === 0;
  const writing = until(BETWEEN_POSTS_MS, write, hasNotWritten);
  const watching = until(500, async () => {
    const answer = await fetch(`${url}/status`, { headers: from(98) });
    if (answer.status !== 200) return;
    const { indexer } = (await answer.json()) as { indexer: { lastProcessedBlockTime: string | null } };
    // Memory has nothing before its first turn.
    if (indexer.lastProcessedBlockTime === null) return;
    lags.push((Date.now() - Date.parse(indexer.lastProcessedBlockTime)) / 1000);
  });
  await Promise.all([...Array.from({ length: READERS }, (_, who) => reader(who + 1)), writing, watching]);
  met.requests = took.length;
  met.mostLagSeconds = Math.max(...lags);
  met.p99 = percentile(
    took.toSorted((one, other) => one - other),
    0.99,
  );
  return met;
}
