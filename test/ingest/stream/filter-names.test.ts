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

test('a rewrite whose name comes back changed is at work once it names it, and not while it names the one before', () => {
  const { requests, first, second } = rewritten();
  for (let meta = 0; meta < 3 * FEW; meta += 1) expect(requests.atWork(`tenant.${first.name}`)).toBeNull();
  expect(requests.hasWorked()).toBe(false);
  expect(requests.atWork(`tenant.${second.name}`)).toBe(second.name);
  expect(requests.hasWorked()).toBe(true);
  for (let more = 0; more < 20; more += 1) requests.request(null);
  for (let meta = 0; meta < 3 * FEW; meta += 1) expect(requests.atWork(second.name)).toBeNull();
});

test.each(['', 'merged'])(
  'a rewrite whose name never comes back, but "%s", is at work after a while',
  (name) => {
    const { requests, second } = rewritten();
    for (let meta = 0; meta < FEW; meta += 1) expect(requests.atWork(name)).toBeNull();
    expect(requests.atWork(name)).toBe(second.name);
  },
);
