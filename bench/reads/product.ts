import '../../runtime/process/no-pretenuring.ts';
import { setTimeout as pause } from 'node:timers/promises';
import { createApp } from '../../api/app.ts';
import { listen } from '../../api/http/listen.ts';
import { createHandOver } from '../../api/latest/feed.ts';
import { createLatest } from '../../api/latest/latest.ts';
import { readSettings } from '../../api/settings.ts';
import { warmUp } from '../../api/warm-up.ts';
import { type Changes, noteRows } from '../../clickhouse/changes.ts';
import { asideOf, openEmbedded, openServer } from '../../clickhouse/client.ts';
import { withLowPriorityThreads } from '../../clickhouse/embedded/thread-priority.ts';
import { loadConfig } from '../../runtime/config/load.ts';
import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { appliedRow, LAUNCHPAD, PROGRAM } from '../../test/api/support/rows.ts';
import { percentile } from '../support/percentile.ts';
import { rowsOf } from './data.ts';

const SLOT_MS = 400;
const FOLDED_LOOK_MS = 20;
const CHANGED = ['policies', 'token_accounts'];
/** How many different policies get new states. */
const WRITTEN = 4_000;

/**
 * A process with the API over a store that was filled before (a directory, or a server's address), and a writer that
 * gives `perSecond` policies a second a new state. It answers the message `select1` with how long the engine's SELECT 1
 * takes, `updates` by writing so many a second from then on, and `folded` once all policies that a start reads are in
 * memory.
 */
const [place = '', policies = '1', perSecond = '0'] = process.argv.slice(2);
const store = await (place.startsWith('http')
  ? openServer(place, null)
  : withLowPriorityThreads(() => openEmbedded(place)));
const handOver = createHandOver();
const reads = asideOf(store, 'reads', 4);
const clock = Date.now;
const latest = createLatest({ currentStore: () => reads, clock, handOver });
const settings = {
  ...readSettings(loadConfig()),
  programId: encodeBase58(PROGRAM),
  launchpadProgramId: encodeBase58(LAUNCHPAD),
};
const { port } = await listen(createApp({ latest, settings, clock }), '127.0.0.1', 0);
process.send?.({ port });
const warmedUp = warmUp(latest, settings, new AbortController().signal);

/** For each policy, its row of each table that changes. */
const made = new Map<number, Record<string, object>>();
function statesOf(policy: number): Record<string, object> {
  const known = made.get(policy);
  if (known !== undefined) return known;
  const rows = rowsOf(policy);
  const states = Object.fromEntries(CHANGED.map((table) => [table, rows[table]?.[0] ?? {}]));
  made.set(policy, states);
  return states;
}

const writtenAt = (turn: number): number => ((turn % WRITTEN) * 7_919) % Number(policies);
let updates = Number(perSecond);
type Message = { ask: 'select1' } | { ask: 'folded' } | { ask: 'updates'; perSecond: number };
process.on('message', async (message: Message) => {
  if (message.ask === 'folded') {
    await warmedUp;
    while (latest.isFolding()) await pause(FOLDED_LOOK_MS);
    process.send?.({});
    return;
  }
  if (message.ask === 'updates') {
    // Make the rows beforehand: it is the bench's own work, and those of a slot would block the thread for 20 to 40 ms.
    if (message.perSecond > 0) for (let at = 0; at < WRITTEN; at += 1) statesOf(writtenAt(at));
    updates = message.perSecond;
    process.send?.({});
    return;
  }
  const times: number[] = [];
  for (let turn = 0; turn < 300; turn += 1) {
    const begun = performance.now();
    await reads.query('SELECT 1');
    times.push(performance.now() - begun);
  }
  process.send?.({
    select1Ms: percentile(
      times.sort((a, b) => a - b),
      0.5,
    ),
  });
});

let slot = 2_000n;
let next = 0;
async function writeSlot(): Promise<void> {
  slot += 1n;
  const state = { slot: String(slot), version: String(slot << 64n) };
  const rows = Array.from({ length: Math.round((updates * SLOT_MS) / 1000) }, () => {
    next += 1;
    return statesOf(writtenAt(next));
  });
  const changes: Changes = new Map();
  for (const table of CHANGED) {
    const changed = rows.map((of) => ({ ...of[table], ...state }));
    await store.insert(table, changed);
    noteRows(changes, table, changed);
  }
  // As the materialiser does: the applied marker moves with every slot, and with it every answer that shows it.
  const marker = { slot: state.slot, log_offset: state.slot, block_time: Math.floor(Date.now() / 1000) };
  await store.insert('applied', [
    appliedRow('accounts', 0, marker),
    appliedRow('transactions', 0, { ...marker, applied_at: Date.now() }),
  ]);
  handOver.note(changes);
  handOver.applied();
}
for (;;) {
  const due = performance.now() + SLOT_MS;
  if (updates > 0) await writeSlot();
  await pause(Math.max(0, due - performance.now()));
}
