import { expect, test, vi } from 'vitest';
import { type AgentOptions, createAgentParts } from '../../../api/agent/create-agent-parts.ts';
import { attemptCounter } from '../../../api/agent/limits/limits.ts';
import { createQueue } from '../../../api/agent/limits/queue.ts';
import type { Db } from '../../../api/postgres/port.ts';

/** A database that counts what it is asked, has room for so many attempts, and then says how long to wait. */
function counting(room: number, wait = 7) {
  const asked: string[] = [];
  const query = async (sql: string) => {
    asked.push(sql);
    return [{ wait: asked.length <= room ? null : wait }];
  };
  return { asked, db: { query } as unknown as Db };
}

test('an attempt is one query; after a refusal, attempts are refused without a query until the wait is over', async () => {
  const { asked, db } = counting(2);
  let now = 0;
  const { count, areUsedUp } = attemptCounter(db, createQueue(), () => now);
  const attempt = () => count('challenge:192.0.2.1', 2, 'two are the most');
  await attempt();
  await attempt();
  expect([asked.length, areUsedUp('challenge:192.0.2.1')]).toEqual([2, false]);
  await expect(attempt()).rejects.toThrow('two are the most');
  expect([asked.length, areUsedUp('challenge:192.0.2.1')]).toEqual([3, true]);
  for (let n = 0; n < 100; n += 1) await expect(attempt()).rejects.toThrow('two are the most');
  expect(asked.length).toBe(3);
  now += 7_000;
  await expect(attempt()).rejects.toThrow('two are the most');
  expect(asked.length).toBe(4);
});

test('a refused client does not wait longer if the machine’s clock is set back', async () => {
  const { asked, db } = counting(0);
  const options = { db, programId: '11111111111111111111111111111111', venue: null };
  const { countAttempt } = createAgentParts(options as unknown as AgentOptions);
  const attempt = () => countAttempt('failed:192.0.2.1', 0, 'none is the most');
  await expect(attempt()).rejects.toMatchObject({ retryAfter: 7 });
  const put = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 3_600_000);
  await expect(attempt()).rejects.toMatchObject({ retryAfter: 7 });
  put.mockRestore();
  expect(asked.length).toBe(1);
});

test('a wait of two hours that the database names is cut to 60 s, and the database is queried again then', async () => {
  const { asked, db } = counting(0, 7_200);
  let now = 0;
  const { count } = attemptCounter(db, createQueue(), () => now);
  const attempt = () => count('failed:192.0.2.1', 0, 'none is the most');
  await expect(attempt()).rejects.toMatchObject({ retryAfter: 60 });
  now += 60_000;
  await expect(attempt()).rejects.toMatchObject({ retryAfter: 60 });
  expect(asked.length).toBe(2);
});
