import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { percentile } from '../support/percentile.ts';
import { formatNumber, type Row } from '../support/row.ts';
import { prepare } from './data.ts';
import { ofCoins, once, rankings } from './paths.ts';
import { openOurs } from './sides.ts';

interface Size {
  policies: number;
  events: number;
}

const SMALL: Size = { policies: 1_000, events: 500_000 };
const ASKED = 200;
const BARS = { coin: 2, fees: 2, loop: 2, positions: 2, activity: 2, rankings: 4 } as const;

type What = keyof typeof BARS;
const KINDS = Object.keys(BARS) as What[];

/**
 * Measures how long an answer takes that was never asked for before, by one client with one request after the other,
 * over a small and a large store; and the same for coins while a start is still reading all policies.
 */
export async function benchGrowth(large: Size): Promise<Row[]> {
  const [before, after] = [await coldMedians(SMALL), await coldMedians(large)];
  const rows: Row[] = KINDS.map((what) => {
    const times = after[what] / before[what];
    return {
      name: `cold ${what}, ${large.policies} policies and ${large.events} events`,
      value: `${formatNumber(after[what])} ms; ${SMALL.policies} and ${SMALL.events}: ${formatNumber(before[what])} ms: ${formatNumber(times)} × (bar ${BARS[what]} ×)`,
      ok: times <= BARS[what],
    };
  });
  rows.push({
    name: 'the same coin right behind a start, while policies are read',
    value: `${formatNumber(after.started)} ms; ${formatNumber(before.started)} ms; they are read within ${formatNumber(after.foldedMs / 1000)} s; ${formatNumber(before.foldedMs / 1000)} s`,
    ok: null,
  });
  return rows;
}

type Medians = Record<What | 'started' | 'foldedMs', number>;

/** Each kind of request runs in a process of its own, so that none finds in memory what another has read. */
async function coldMedians(size: Size): Promise<Medians> {
  const directory = mkdtempSync(path.join(tmpdir(), 'growth-'));
  try {
    await prepare(directory, size);
    const medians: [keyof Medians, number][] = [];
    for (const what of KINDS) {
      const side = await openOurs(directory, size.policies, 0);
      const begun = performance.now();
      await side.child.ask({ ask: 'folded' });
      if (what === 'coin') medians.push(['foldedMs', performance.now() - begun]);
      medians.push([what, await medianOf(side.url, pathsOf(what, size.policies))]);
      await side.child.stop();
    }
    const started = await openOurs(directory, size.policies, 0);
    medians.push(['started', await medianOf(started.url, pathsOf('coin', size.policies))]);
    await started.child.stop();
    return Object.fromEntries(medians) as Medians;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function pathsOf(what: What, policies: number): string[] {
  if (what === 'rankings') return once(rankings(policies), ASKED);
  // Only the first 300 policies have events.
  return once(ofCoins(what === 'coin' ? '' : what, Math.min(policies, 300)), ASKED);
}

async function medianOf(url: string, paths: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (const pathname of paths) {
    const begun = performance.now();
    const answer = await fetch(url + pathname);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`${pathname} answered ${answer.status}`);
    times.push(performance.now() - begun);
  }
  return percentile(
    times.sort((a, b) => a - b),
    0.5,
  );
}
