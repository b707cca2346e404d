import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startChild } from '../support/child.ts';
import { percentile } from '../support/percentile.ts';
import type { Row } from '../support/row.ts';

const IDLE = 2_000;
const BUSY = 200;
const SLOTS_A_SECOND = 2.5;
/** Events of a slot over all policies; each goes to every busy client. */
const EVENTS = 8;
const BAR_MS = 500;

interface Written {
  applied: Record<string, number>;
  cores: number;
}
interface Heard {
  heard: [slot: string, at: number][];
  ended: number;
}

/** Measures from a slot applied to its events at each busy client, beside many idle clients. */
export async function benchStreams(seconds: number): Promise<Row[]> {
  const directory = mkdtempSync(path.join(tmpdir(), 'streams-'));
  const product = startChild('bench/streams/product.ts', [directory]);
  const { port } = await product.heard<{ port: number }>();
  const listeners = startChild('bench/streams/listeners.ts', [String(port)]);
  try {
    await listeners.heard();
    const alone = product.rssMb();
    const slots = Math.ceil(seconds * SLOTS_A_SECOND);
    const quiet = await product.ask<Written>({ slots, count: EVENTS });
    await listeners.ask({ idle: IDLE, busy: BUSY });
    const { applied, cores } = await product.ask<Written>({ slots, count: EVENTS });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const { heard, ended } = await listeners.ask<Heard>({ tell: true });
    const took = heard
      .flatMap(([slot, at]) => (applied[slot] === undefined ? [] : [at - applied[slot]]))
      .sort((a, b) => a - b);
    const due = slots * EVENTS * BUSY;
    const p99 = percentile(took, 0.99);
    return [
      {
        name: 'clients that wait, and that hear of everything',
        value: `${IDLE} and ${BUSY}`,
        ok: ended === 0,
      },
      {
        name: 'events that came to them, of those that were to',
        value: `${took.length} of ${due}`,
        ok: took.length === due,
      },
      {
        name: 'applied to client, p50, p99, most',
        value: `${percentile(took, 0.5)} ms, ${p99} ms, ${took.at(-1)} ms`,
        ok: p99 < BAR_MS,
      },
      {
        name: 'its process: cores with them, and with nobody',
        value: `${cores.toFixed(2)}, ${quiet.cores.toFixed(2)}`,
        ok: null,
      },
      {
        name: 'its memory with them, and before',
        value: `${product.rssMb().toFixed(0)} MB, ${alone.toFixed(0)} MB`,
        ok: null,
      },
    ];
  } finally {
    await Promise.all([listeners.stop(), product.stop()]);
    rmSync(directory, { recursive: true, force: true });
  }
}
