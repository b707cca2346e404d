import { expect, test } from 'vitest';
import { createFollowedRequests } from '../../../ingest/stream/followed-stream/requests.ts';

const FEW = 32;

/** A stream's first request and a rewrite of it. */
function rewritten() {
  const requests = createFollowedRequests({ commitment: 'confirmed', addresses: () => [], onRequest() {} });
  const first = requests.request(null);
  const second = requests.request(null);
  return { requests, first, second };
}

test('a filter rewrite is at work once its name comes back, even with a prefix, not while the previous name does', () => {
  const { requests, first, second } = rewritten();
  for (let meta = 0; meta < 3 * FEW; meta += 1) expect(requests.atWork(`tenant.${first.name}`)).toBeNull();
  expect(requests.hasWorked()).toBe(false);
  expect(requests.atWork(`tenant.${second.name}`)).toBe(second.name);
  expect(requests.hasWorked()).toBe(true);
  for (let more = 0; more < 20; more += 1) requests.request(null);
  for (let meta = 0; meta < 3 * FEW; meta += 1) expect(requests.atWork(second.name)).toBeNull();
});

test.each(['', 'merged'])(
  'a filter rewrite counts as at work after 32 block metas whose filter is only ever named "%s"',
  (name) => {
    const { requests, second } = rewritten();
    for (let meta = 0; meta < FEW; meta += 1) expect(requests.atWork(name)).toBeNull();
    expect(requests.atWork(name)).toBe(second.name);
  },
);
