import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openEmbedded } from '../../clickhouse/client.ts';
import { createRandom } from '../support/random.ts';

const SEED = Number(process.env.SEED ?? 7);
const ROWS = 4_000;

test(`kill -9 during an insert loses no acknowledged batch and leaves no partial one (seed ${SEED})`, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'crash-test-'));
  const random = createRandom(SEED);
  const acknowledged: number[] = [];
  let first = 0;
  for (let round = 0; round < 5; round += 1) {
    const child = fork(
      path.join(import.meta.dirname, 'support/insert-child.ts'),
      [directory, String(first), String(ROWS)],
      {
        execArgv: [],
        env: { ...process.env, UV_THREADPOOL_SIZE: '16' },
      },
    );
    const enough = 3 + Math.floor(random() * 12);
    let heard = 0;
    const killed = once(child, 'exit');
    child.on('message', (batch: number) => {
      acknowledged.push(batch);
      first = batch + 1;
      heard += 1;
      // The child has begun the next insert by now.
      if (heard === enough) child.kill('SIGKILL');
    });
    expect((await killed)[1]).toBe('SIGKILL');
    // The batch under way may have been written without an acknowledgement.
    first += 1;
  }
  const store = await openEmbedded(directory);
  const rows = await store.query<{ batch: string; n: string }>(
    "SELECT splitByChar('.', venue_account)[1] AS batch, count() AS n FROM account_readings GROUP BY batch",
  );
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  const counts = new Map(rows.map(({ batch, n }) => [Number(batch), Number(n)]));
  expect([...new Set(counts.values())]).toEqual([ROWS]);
  expect(acknowledged.filter((batch) => !counts.has(batch))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(15);
});
