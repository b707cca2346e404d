import path from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../../clickhouse/client.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { createCounters } from '../../start/counters.ts';
import type { DevnetAddresses, DevnetChild } from '../../start/devnet-child.ts';
import { showProgress } from '../../start/screen.ts';
import type { System } from '../../start/system.ts';
import { key, policyRow } from '../api/support/rows.ts';
import { serveAnswers } from '../support/answering.ts';
import { freshDatabase } from '../support/database.ts';

const NEVER = new Promise<never>(() => {});
const HOUR_S = 3600;

/** A system whose API answers this status for every policy, and the screen that is printed for it. */
async function screenOf(
  status: number,
  parts: { failed?: Promise<never>; ended?: Promise<void>; keyFile?: string; store?: Pick<Store, 'query'> },
) {
  const { url, close } = await serveAnswers(() => ({ status, body: {} }));
  onTestFinished(close);
  const counters = createCounters();
  const port = Number(new URL(url).port);
  const system = { api: { port }, counters, failed: parts.failed ?? NEVER, store: parts.store } as System;
  const addresses = {
    agent: { mint: 'itsAgent', keyFile: parts.keyFile ?? 'agent.json' },
    speaker: 'itsSpeaker',
  };
  const devnet = { addresses: addresses as DevnetAddresses, ended: parts.ended ?? NEVER };
  const stop = new AbortController();
  let printed = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed += String(text);
    // The line of progress, whole or cut.
    if (/updates\/s|…$/.test(printed)) stop.abort();
    return true;
  });
  // With a store the chain is not the local one.
  const chain = parts.store === undefined ? (devnet as DevnetChild) : null;
  const shown = () => showProgress(system, readConfig({}), stop.signal, chain);
  return { counters, shown, printed: () => printed };
}

afterEach(() => vi.restoreAllMocks());

test('a failed stage or an ended local chain ends the screen while it still waits for its policy', async () => {
  const failed = Promise.reject<never>(new Error('the port is taken'));
  failed.catch(() => {});
  const one = await screenOf(404, { failed });
  await expect(one.shown()).rejects.toThrow('the port is taken');
  expect(one.printed()).toMatch(/^\nThe explorer: {2}http:\S+\/explorer\/\n$/);
  vi.restoreAllMocks();
  const other = await screenOf(404, { ended: Promise.resolve() });
  await expect(other.shown()).rejects.toThrow('the local chain ended');
});

test('a store that fails one query of the screen is asked again, and nothing ends', async () => {
  const query = vi
    .fn()
    .mockResolvedValue([{ mint: 'aMint' }])
    .mockRejectedValueOnce(new Error('reset by peer'));
  const { shown, printed } = await screenOf(404, { store: { query } });
  await shown();
  expect(printed()).toMatch(/explorer\/coins\/aMint\n/);
  expect(query).toHaveBeenCalledTimes(2);
});

test('on a chain other than the local one, the screen shows the existing policy with the most swept profit', async () => {
  const store = await freshDatabase();
  onTestFinished(() => store.close());
  await store.insert('policies', [
    policyRow('little', 'usd', { profit_swept: '9' }),
    policyRow('most', 'usd', { profit_swept: '10' }),
    policyRow('gone', 'usd', { profit_swept: '11', exists: 0 }),
  ]);
  const { shown, printed } = await screenOf(404, { store });
  await shown();
  expect(printed()).toContain(`explorer/coins/${key('most')}\n`);
});

test('the screen is complete while the local chain still lives through its past, and says how much of it is left', async () => {
  const { counters, shown, printed } = await screenOf(200, {});
  counters.appliedTime = Math.floor(Date.now() / 1000) - 5 * HOUR_S + 60;
  await shown();
  expect(printed()).toMatch(/explorer\/coins\/itsSpeaker {3}its agent posts while you look\n/);
  expect(printed()).toMatch(/ · the local chain lives through its past: 5 hours to go · no slot yet · /);
  expect(printed()).toMatch(/ · history not looked at yet\n/);
});

test('the progress line calls history complete once the local chain has lived its past, and names a gap before that', async () => {
  const now = Math.floor(Date.now() / 1000);
  const lineOf = async (appliedTime: number, gap?: [bigint, bigint]) => {
    const { counters, shown, printed } = await screenOf(200, {});
    Object.assign(counters, { appliedTime, appliedSlot: 7n, tipSlot: 7n });
    Object.assign(counters.stream, { connected: true, reason: null });
    if (gap !== undefined) counters.gaps.set(...gap);
    await shown();
    vi.restoreAllMocks();
    return printed()
      .trimEnd()
      .split('\n')
      .find((line) => line.includes('updates/s'));
  };
  expect(await lineOf(now - 5 * HOUR_S)).toMatch(/hours to go · slot 7 · 0 slots behind · \d+ updates\/s$/);
  expect(await lineOf(now - 5 * HOUR_S, [2n, 3n])).toMatch(/ · history: slots 2 to 3 still to be read$/);
  expect(await lineOf(now)).toMatch(/updates\/s · history complete$/);
});

test.each([
  ['data/agent.json', 'data/agent.json'],
  ['../elsewhere/agent.json', path.resolve('../elsewhere/agent.json')],
])('the key file %s of the agent is shown as %s', async (keyFile, told) => {
  const { shown, printed } = await screenOf(200, { keyFile });
  await shown();
  expect(printed()).toContain(`MINT=itsAgent, its key in ${told}\n`);
});

test('in a terminal the progress line fits the width, and a last line says that everything stays', async () => {
  const { isTTY, columns } = process.stdout;
  onTestFinished(() => void Object.assign(process.stdout, { isTTY, columns }));
  Object.assign(process.stdout, { isTTY: true, columns: 60 });
  const { shown, printed } = await screenOf(200, {});
  await shown();
  const [line = '', ...after] = (printed().split('\u001b[K').at(-1) ?? '').split('\n');
  expect(line).toMatch(/^stream not connected since .*…$/);
  expect(line).toHaveLength(59);
  expect(after).toEqual(['Stopping; everything stays in ./data.', '']);
});
