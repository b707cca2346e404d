import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { BEHIND_MAX_BYTES, createClient } from '../../../api/stream/client.ts';
import { createClients } from '../../../api/stream/clients.ts';

describe('a connection', () => {
  test('whose reader does not read is ended with the reason once more than 1 MB waits', async () => {
    const client = createClient(() => undefined);
    const data = 'x'.repeat(64 * 1024);
    let sent = 0;
    while (!client.ended() && sent < 100) {
      client.send({ event: 'activity', data });
      sent += 1;
    }
    // What is on its way through counts at both of its ends.
    expect(sent * data.length).toBeGreaterThan(BEHIND_MAX_BYTES - 2 * data.length);
    expect(sent * data.length).toBeLessThan(BEHIND_MAX_BYTES + 2 * data.length);
    client.send({ event: 'activity', data: 'never' });
    let text = '';
    for await (const chunk of client.body) text += chunk;
    expect(text).toMatch(/event: end\ndata: {"reason":"this client reads too slowly[^\n]*\n\n$/);
    expect(text).not.toContain('never');
  });

  test('that goes away leaves its place, and beats stop with the last', async () => {
    const clients = createClients({ most: 3, mostOfAddress: 2, heartbeatMs: 5 });
    const first = clients.open('a');
    const second = clients.open('a');
    expect(clients.open('a')).toBe('too many of this address');
    const third = clients.open('b');
    expect(clients.open('c')).toBe('busy');
    if (typeof first === 'string' || typeof second === 'string' || typeof third === 'string')
      throw new Error('no room');
    expect(String((await once(first.body, 'data'))[0])).toBe(':\n\n');
    first.body.destroy();
    await once(first.body, 'close');
    expect(clients.count()).toBe(2);
    expect(typeof clients.open('a')).toBe('object');
    clients.endAll('over');
    second.body.resume();
    await once(second.body, 'end');
  });
});
