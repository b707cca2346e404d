import { atRate } from '../support/http-load.ts';
import { percentile } from '../support/percentile.ts';
import { createReader } from '../support/reader.ts';

/** One side's readers: so many connections that ask one path after the other, by lot, for so long. */
export interface Load {
  url: string;
  paths: string[];
  connections: number;
  seconds: number;
  headers: Record<string, string>;
  /** Requests a second, whether or not those before them are answered; null: one after the other. */
  rate: number | null;
}

export interface Loaded {
  perSecond: number;
  p50: number;
  p99: number;
  failed: number;
}

/** For what nobody asked for before: every side keeps it by then, in memory or its cache. */
const WARM_UP_SECONDS = 3;

process.on('message', async ({ url, paths, connections, seconds, headers, rate }: Load) => {
  const reader = createReader(connections);
  const times: number[] = [];
  let failed = 0;
  const begun = performance.now();
  const since = begun + WARM_UP_SECONDS * 1000;
  const end = since + seconds * 1000;
  const one = async () => {
    const path = paths[Math.floor(Math.random() * paths.length)] as string;
    const { status, ms } = await reader.read(url + path, headers);
    if (performance.now() < since) return;
    if (status !== 200 && status !== 304) failed += 1;
    times.push(ms);
  };
  const read = async () => {
    while (performance.now() < end) await one();
  };
  if (rate === null) await Promise.all(Array.from({ length: connections }, read));
  else await atRate(rate, seconds + WARM_UP_SECONDS, one);
  reader.close();
  times.sort((a, b) => a - b);
  const loaded: Loaded = {
    ...{ perSecond: times.length / seconds, failed },
    ...{ p50: percentile(times, 0.5), p99: percentile(times, 0.99) },
  };
  process.send?.(loaded);
});
