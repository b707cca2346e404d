import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createOptionsVenue } from '../../../api/agent/options/venue.ts';

let asked = 0;
let headers: http.OutgoingHttpHeaders = {};
let body = '';
const server = http.createServer((_, response) => {
  asked += 1;
  response.writeHead(429, headers).end(body);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
afterAll(() => server.close());
beforeEach(() => {
  asked = 0;
});

const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const OWN_ERROR = JSON.stringify({ id: '1', error: { code: -32000, message: 'Rate limit exceeded' } });

describe('an options venue that answers 429', () => {
  test.each([
    ['in the text of a proxy in front of it', 'Too many requests'],
    ['in its own words', OWN_ERROR],
  ])('is not asked again before its Retry-After (%s); clients are told how long', async (_, words) => {
    headers = { 'Retry-After': '40' };
    body = words;
    const venue = createOptionsVenue({ url });
    for (let agent = 0; agent < 2; agent += 1) {
      const refusal = await venue.ticker('ETH-20991225-3500-C').catch((error) => error);
      expect(refusal).toMatchObject({ code: 'busy' });
      expect([39, 40]).toContain(refusal.retryAfter);
    }
    expect(asked).toBe(1);
  });

  test('is not asked by requests that already waited for their turn when it sent its Retry-After', async () => {
    headers = { 'Retry-After': '40' };
    body = OWN_ERROR;
    const [perSecond, burst] = [20, 5];
    const venue = createOptionsVenue({ url, perSecond, burst });
    const begun = performance.now();
    const asking = Array.from({ length: 20 }, () => venue.ticker('ETH-20991225-3500-C'));
    await expect(Promise.race(asking)).rejects.toMatchObject({ code: 'busy' });
    // Until the first answer is read the limit is not known, and one more request goes out every 50 ms.
    const unaware = burst + 1 + (perSecond * (performance.now() - begun)) / 1_000;
    const refusals = await Promise.allSettled(asking);
    expect(refusals.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(asked).toBeLessThanOrEqual(unaware);
  });

  test('without a Retry-After is asked once more, and then is venue_unreachable', async () => {
    headers = {};
    body = OWN_ERROR;
    const venue = createOptionsVenue({ url });
    await expect(venue.ticker('ETH-20991225-3500-C')).rejects.toMatchObject({ code: 'venue_unreachable' });
    expect(asked).toBe(2);
  });
});
