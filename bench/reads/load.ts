import { atRate } from '../support/http-load.ts';
import { percentile } from '../support/percentile.ts';
import { createReader } from '../support/reader.ts';

/** Readers of one server: connections that ask for randomly chosen paths, one after the other. */
export interface Load {
  url: string;
  paths: string[];
  connections: number;
  seconds: number;
  headers: Record<string, string>;
  /** Requests a second, whether or not earlier ones are answered; null: each connection asks one after the other. */
  rate: number | null;
}

export interface Loaded {
  perSecond: number;
  p50: number;
  p99: number;
  failed: number;
}

/** Not measured: by its end every server has the pages in its memory or cache. */
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
