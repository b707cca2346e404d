import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Rpc } from '../../../runtime/rpc/rpc.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { type AuditStage, openAuditStage } from './support/audit-stage.ts';
import { damageTo } from './support/damage.ts';

/** The chain goes on and so does the index: waits are so long that no slow machine causes a difference. */
const PATIENT = { waitMs: PATIENCE_MS, patienceMs: PATIENCE_MS };
/** Fewer blocks than this do not count as going on. */
const BLOCKS_MEANWHILE = 10;

let stage: AuditStage;
beforeAll(async () => {
  stage = await openAuditStage(process.env.SEED ?? 'audit-live', 40);
  await stage.live(200);
  await stage.settled();
});
afterAll(() => stage.close());

test('a complete index has no differences, and figures of every kind are compared', async () => {
  const { lines, summary } = await stage.audit(PATIENT);
  expect(lines).toEqual([]);
  const counts = summary.match(
    /^compared (\d+) policy totals, (\d+) days, (\d+) event kinds, (\d+) event tables, (\d+) chain counters, (\d+) hours, (\d+) account states; 0 differences$/,
  );
  expect(counts, summary).not.toBeNull();
  expect(
    counts
      ?.slice(1)
      .map(Number)
      .every((count) => count > 0),
    summary,
  ).toBe(true);
  const policies = await stage.store.query('SELECT 1 FROM policies FINAL WHERE exists');
  expect(Number(counts?.[5])).toBe(policies.length * 8);
});

/**
 * Makes a block with every applied batch for as long as `task` takes; where fewer than BLOCKS_MEANWHILE were made, the
 * task is done again.
 */
async function whileLive(task: () => Promise<void>): Promise<void> {
  let going = true;
  let blocks = 0;
  const writing = (async () => {
    for (; going; blocks += 1) {
      const applied = stage.nextBatch();
      await stage.live(1);
      await applied;
    }
  })();
  let isOver = false;
  writing.catch(() => {
    isOver = true;
  });
  const begun = performance.now();
  try {
    do await task();
    while (blocks <= BLOCKS_MEANWHILE && !isOver && performance.now() - begun < PATIENCE_MS);
  } finally {
    going = false;
    await writing;
  }
  expect(blocks).toBeGreaterThan(BLOCKS_MEANWHILE);
}

test('nothing differs while the chain goes on and every table is being written', async () => {
  await whileLive(async () => {
    for (let round = 0; round < 2; round += 1) expect((await stage.audit(PATIENT)).lines).toEqual([]);
  });
  await stage.settled();
  expect((await stage.audit(PATIENT)).summary).toMatch(/; 0 differences$/);
});

test('a lost fact is found at its slot while the chain goes on', async () => {
  const [event] = await stage.store.query<{
    mint: string;
    slot: string;
    signature: string;
    position: number;
  }>(
    `SELECT mint, slot, signature, position FROM events FINAL WHERE kind = 'Routed' ORDER BY slot LIMIT 1 OFFSET 5`,
  );
  if (event === undefined) throw new Error('nothing was routed');
  for (const table of ['events', 'events_by_slot']) {
    await damageTo(stage.store).remove(table, event);
  }
  await whileLive(async () => {
    const { lines } = await stage.audit(PATIENT);
    const line = lines.find((text) => text.includes('Policy.protocol_fees'));
    expect(line).toContain(`difference  ${event.mint}  Policy.protocol_fees  chain `);
    expect(line).toContain(`first at slot ${event.slot}`);
    // Sums that count the event differ too, where they were not recomputed since.
    const others = lines.filter((text) => !text.includes(event.mint));
    expect(others.every((text) => / {2}(quote_days|kind_spans)\./.test(text))).toBe(true);
    // A list that marks good transactions as failed hides none.
    const marking: Rpc = {
      ...stage.rpc,
      getSignaturesForAddress: async (...asked) =>
        (await stage.rpc.getSignaturesForAddress(...asked)).map((info) => ({ ...info, failed: true })),
    };
    const again = (await stage.audit({ ...PATIENT, rpc: marking })).lines.find((text) =>
      text.includes('Policy.protocol_fees'),
    );
    expect(again).toContain(`first at slot ${event.slot}`);
  });
});
