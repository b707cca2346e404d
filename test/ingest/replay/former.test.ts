import { expect, onTestFinished, test, vi } from 'vitest';
import { materialiserGroup } from '../../../ingest/log/kafka/topics.ts';
import { formerHint } from '../../../ingest/operate/replay/former.ts';

const FORMER = 'bankroll_r1';

/** @param members of the group at each look; null: the broker does not answer */
function hint(members: (number | null)[], { signal = new AbortController().signal, withinMs = 60_000 } = {}) {
  const asked: string[] = [];
  const groupMembers = async (group: string) => {
    asked.push(group);
    const found = members.length > 1 ? members.shift() : members[0];
    if (typeof found !== 'number') throw new Error('no broker answers');
    return found;
  };
  const context = { home: { database: 'bankroll' }, kafka: { groupMembers }, prefix: 'log', signal };
  return formerHint(context, FORMER, withinMs).then((said) => ({ said, asked }));
}

const MAY_BE_DROPPED = `an api may read ${FORMER} for three minutes yet, and a backfill or an audit that began before the switch until it ends; then DROP DATABASE ${FORMER} frees its space`;
const IS_FILLED = `somebody may still fill ${FORMER}: do not drop it before that process has ended`;

test('a former database may be dropped once the processes that fill it have ended, which are waited for', async () => {
  const { said, asked } = await hint([2, null, 1, 0]);
  expect(said).toEqual(MAY_BE_DROPPED);
  expect(asked).toEqual(Array(4).fill(materialiserGroup('log', FORMER)));
});

test('a former database is not to be dropped while its group has members, or while no broker answers', async () => {
  expect((await hint([1], { withinMs: 0 })).said).toBe(IS_FILLED);
  expect((await hint([null], { withinMs: 0 })).said).toBe(IS_FILLED);
  const { said, asked } = await hint([1], { signal: AbortSignal.abort() });
  expect([said, asked.length]).toEqual([IS_FILLED, 1]);
});

test('an npm start that needs 22 seconds to leave its group is waited for', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const begun = performance.now();
  const groupMembers = async () => (performance.now() - begun < 22_000 ? 1 : 0);
  const context = { home: { database: 'bankroll' }, kafka: { groupMembers }, prefix: 'log' };
  const said = formerHint({ ...context, signal: new AbortController().signal }, FORMER);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await said).toEqual(MAY_BE_DROPPED);
});

test('the home database is never to be dropped', async () => {
  const context = { home: { database: FORMER }, kafka: { groupMembers: async () => 0 }, prefix: 'log' };
  const said = await formerHint({ ...context, signal: new AbortController().signal }, FORMER);
  expect(said).toBe(`${FORMER} keeps the row that names the serving one: do not drop it`);
});
