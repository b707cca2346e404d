import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createClients } from '../../../api/stream/clients.ts';
import { createHub, type HubParts } from '../../../api/stream/hub.ts';
import { awaited } from '../../support/awaited.ts';

/** A hub over stores that hold their answers back, and what they were asked. */
function hubOver() {
  const asked: string[] = [];
  const held: (() => void)[] = [];
  const errors: unknown[] = [];
  const tip = { slot: 9n, ordinal: 0, recent: 0, closedGaps: 0 };
  const activity: HubParts['activity'] = {
    begin: async () => {},
    tip: () => tip,
    news: async () => ({ events: [], gap: null }),
    missed: async (since) => {
      asked.push(String(since.slot));
      await new Promise<void>((resolve) => void held.push(resolve));
      return { events: [], gap: null };
    },
  };
  const onError = (error: unknown) => void errors.push(error);
  const hub = createHub({ clients: createClients(), activity, posts: null, onError });
  const wanted = { mint: null, kind: null, events: true, posts: false };
  const listen = async (address: string, slot: number) => {
    const body = await hub.subscribe(address, wanted, `e${slot}.0.0.0`);
    if (typeof body === 'string') throw new Error(body);
    return body;
  };
  return { asked, held, errors, listen };
}

test('what somebody missed who went away meanwhile is not read', async () => {
  const { asked, held, errors, listen } = hubOver();
  const first = await listen('192.0.2.1', 1);
  const gone = await Promise.all([2, 3, 4, 5].map((slot) => listen('192.0.2.1', slot)));
  const last = await listen('192.0.2.9', 6);
  await Promise.all(gone.map((body) => once(body.destroy(), 'close')));
  await awaited(() => {
    for (const answer of held.splice(0)) answer();
    expect(asked).toContain('6');
  });
  for (const answer of held.splice(0)) answer();
  expect(asked.filter((slot) => ['3', '4', '5'].includes(slot))).toEqual([]);
  expect(errors).toEqual([]);
  for (const body of [first, last]) body.destroy();
});
