import { once } from 'node:events';
import { pipeline, Writable } from 'node:stream';
import { setImmediate as aTurn } from 'node:timers/promises';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { BEHIND_MAX_BYTES, createClient, END_LIMIT_MS } from '../../../api/stream/client.ts';
import { createClients } from '../../../api/stream/clients.ts';
import { createWaitingBytes } from '../../../api/stream/waiting-bytes.ts';
import { awaited } from '../../support/awaited.ts';

describe('a stream connection', () => {
  afterEach(() => vi.useRealTimers());

  test('is ended with the reason once more than 1 MB waits for a client that does not read', async () => {
    const client = createClient(createWaitingBytes(), () => undefined);
    const data = 'x'.repeat(64 * 1024);
    let sent = 0;
    while (!client.ended() && sent < 100) {
      client.send({ event: 'activity', data });
      sent += 1;
    }
    // Bytes on their way through count at both ends.
    expect(sent * data.length).toBeGreaterThan(BEHIND_MAX_BYTES - 2 * data.length);
    expect(sent * data.length).toBeLessThan(BEHIND_MAX_BYTES + 2 * data.length);
    client.send({ event: 'activity', data: 'never' });
    let text = '';
    for await (const chunk of client.body) text += chunk;
    expect(text).toMatch(/event: end\ndata: {"reason":"this client reads too slowly[^\n]*\n\n$/);
    expect(text).not.toContain('never');
  });

  describe('that was ended for reading too slowly', () => {
    /** A connection whose reader takes a piece only when the test has it do so. */
    function readSlowly() {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let [text, closed] = ['', false];
      let taken: (() => void) | undefined;
      const response = new Writable({
        highWaterMark: 1,
        write: (chunk, _encoding, done) => {
          taken = () => {
            text += chunk;
            done();
          };
        },
      });
      const client = createClient(createWaitingBytes(), () => {
        closed = true;
      });
      pipeline(client.body, response, () => undefined);
      const take = async () => {
        const piece = taken;
        taken = undefined;
        piece?.();
        await aTurn();
      };
      return { client, response, take, text: () => text, closed: () => closed };
    }
    const passes = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      await aTurn();
    };
    const behind = async ({ client }: ReturnType<typeof readSlowly>) => {
      await aTurn();
      const line = `event: activity\ndata: ${'x'.repeat(4_000)}\n\n`;
      while (!client.ended()) client.write(line);
    };

    test('gets the end message however slowly it reads, and keeps its place until all of it is sent', async () => {
      const reader = readSlowly();
      await behind(reader);
      while (!reader.text().includes('event: end')) {
        expect([reader.closed(), reader.response.destroyed]).toEqual([reader.response.writableEnded, false]);
        await passes(END_LIMIT_MS * 0.9);
        await reader.take();
      }
      expect(reader.text()).toMatch(/event: end\ndata: {"reason":"this client reads too slowly[^\n]*\n\n$/);
      vi.useRealTimers();
      await awaited(() => expect([reader.closed(), reader.response.writableFinished]).toEqual([true, true]));
    });

    test.each([0, 2])(
      'is closed and loses its place if it takes nothing more after %i pieces',
      async (pieces) => {
        const reader = readSlowly();
        await behind(reader);
        for (let n = 0; n < pieces; n += 1) await reader.take();
        await passes(END_LIMIT_MS * 0.9);
        expect([reader.closed(), reader.response.destroyed]).toEqual([false, false]);
        await passes(END_LIMIT_MS);
        await passes(END_LIMIT_MS);
        expect([reader.closed(), reader.response.destroyed]).toEqual([true, true]);
      },
    );
  });

  test('is ended if too much waits for all clients together and its address has the most waiting', async () => {
    const clients = createClients({ mostWaiting: 800_000 });
    const open = (address: string) => {
      const client = clients.open(address);
      if (typeof client === 'string') throw new Error(client);
      return client;
    };
    const [slow, ...flood] = [open('slow'), open('flood'), open('flood'), open('flood')];
    const all = [slow, ...flood];
    // Bytes that all of them are sent count once.
    const shared = Buffer.from(`:${'x'.repeat(100_000)}\n\n`);
    for (let n = 0; n < 5; n += 1) for (const one of all) one.write(shared);
    expect(all.map((one) => one.ended())).toEqual([false, false, false, false]);
    const told = (n: number) => `:${String(n).repeat(100_000)}\n\n`;
    for (let n = 0; n < 3; n += 1) slow.write(told(n));
    flood[1]?.write(told(3));
    for (let n = 4; n < 7; n += 1) flood[2]?.write(told(n));
    // Another client has as much waiting, but is the only one of its address.
    expect(all.map((one) => one.ended())).toEqual([false, false, false, true]);
    for (let n = 7; n < 10; n += 1) flood[0]?.write(told(n));
    expect(all.map((one) => one.ended())).toEqual([false, true, false, true]);
    let text = '';
    for await (const chunk of flood[2]?.body ?? []) text += chunk;
    expect(text).toMatch(
      /\n\nevent: end\ndata: {"reason":"this client reads too slowly: more waits[^\n]*}\n\n$/,
    );
    for (const one of all) one.body.destroy();
    await awaited(() => expect(clients.count()).toBe(0));
  });

  test('frees its place when it closes, and heartbeats stop with the last one', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const clients = createClients({ most: 3, mostOfAddress: 2, heartbeatMs: 5 });
    const first = clients.open('a');
    const second = clients.open('a');
    expect(clients.open('a')).toBe('too many of this address');
    const third = clients.open('b');
    expect(clients.open('c')).toBe('busy');
    if (typeof first === 'string' || typeof second === 'string' || typeof third === 'string')
      throw new Error('no room');
    const beat = once(first.body, 'data');
    vi.advanceTimersByTime(5);
    expect(String((await beat)[0])).toBe(':\n\n');
    first.body.destroy();
    await once(first.body, 'close');
    expect(clients.count()).toBe(2);
    const again = clients.open('a');
    if (typeof again === 'string') throw new Error('no room');
    clients.endAll('over');
    for (const { body } of [second, third]) {
      body.resume();
      await once(body, 'close');
    }
    expect([clients.count(), vi.getTimerCount()]).toEqual([1, 1]);
    again.body.resume();
    await once(again.body, 'close');
    expect([clients.count(), vi.getTimerCount()]).toEqual([0, 0]);
  });
});
