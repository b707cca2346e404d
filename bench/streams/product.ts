import '../../runtime/process/no-pretenuring.ts';
import { createApp } from '../../api/app.ts';
import { listen } from '../../api/http/listen.ts';
import { createHandOver } from '../../api/latest/feed.ts';
import { createLatest } from '../../api/latest/latest.ts';
import { readSettings } from '../../api/settings.ts';
import { asideOf, openEmbedded } from '../../clickhouse/client.ts';
import { migrate } from '../../clickhouse/schema/migrate.ts';
import { loadConfig } from '../../runtime/config/load.ts';
import { appliedRow, eventRow, mintRow, policyRow } from '../../test/api/support/rows.ts';

const SLOT_MS = 400;
const POLICIES = 50;

/**
 * A process with the API over a store of its own. A message with a number of slots, and of events in each, has it write
 * them at the chain's pace; it answers when each slot was applied.
 */
const [directory = ''] = process.argv.slice(2);
const store = await openEmbedded(directory);
await migrate(store, null);
const names = Array.from({ length: POLICIES }, (_, number) => `policy ${number}`);
await store.insert(
  'policies',
  names.map((name) => policyRow(name, 'usd')),
);
await store.insert('mints', [mintRow('usd', 6)]);
const handOver = createHandOver();
const clock = Date.now;
const reads = asideOf(store, 'reads', 4);
const latest = createLatest({ currentStore: () => reads, clock, handOver });
const app = createApp({ latest, settings: readSettings(loadConfig()), clock });
const { port } = await listen(app, '127.0.0.1', 0);

let slot = 2_000;
let events = 0;
async function writeSlot(count: number): Promise<number> {
  slot += 1;
  const rows = Array.from({ length: count }, () => {
    events += 1;
    return eventRow(names[events % POLICIES] as string, 'Routed', events, {
      slot: String(slot),
      tx_index: events,
    });
  });
  await store.insert('events', rows);
  const at = { slot: String(slot), log_offset: String(slot) };
  await store.insert('applied', [appliedRow('transactions', 0, at), appliedRow('accounts', 0, at)]);
  handOver.applied();
  return Date.now();
}
await writeSlot(1);
process.send?.({ port });

process.on('message', async ({ slots, count }: { slots: number; count: number }) => {
  const applied: Record<string, number> = {};
  const before = process.cpuUsage();
  const begun = performance.now();
  for (let made = 0; made < slots; made += 1) {
    const due = performance.now() + SLOT_MS;
    applied[String(slot + 1)] = await writeSlot(count);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
  }
  const { user, system } = process.cpuUsage(before);
  process.send?.({ applied, cores: (user + system) / 1000 / (performance.now() - begun) });
});
