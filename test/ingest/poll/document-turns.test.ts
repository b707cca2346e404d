import { expect, onTestFinished, test, vi } from 'vitest';
import type { MetadataTarget } from '../../../clickhouse/queries/states/poll-targets.ts';
import { createDocumentTurns } from '../../../ingest/poll/document-turns.ts';
import { type DocumentLimits, documentsRound } from '../../../ingest/poll/documents.ts';
import { serveAnswers } from '../../support/answering.ts';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { captureLog, pollOptions } from './support/capture.ts';

const target = (mint: string, uri: string, readUri: string | null = null): MetadataTarget => ({
  ...{ mint, uri, readUri },
  ...{ readAt: readUri === null ? null : '1', imageUrl: null },
});

/** Rounds over these documents; notes the mints that were read, in order. */
function roundOver(targets: readonly MetadataTarget[], ipfsGateway: string, limits: DocumentLimits = {}) {
  const log = captureLog();
  const { config, store, signal } = pollOptions({ METADATA_ALLOW_PRIVATE: 'true' }, {});
  const options = {
    config: { ...config, ipfsGateway },
    store: { ...store, query: async () => [...targets] as never[] },
    signal,
  };
  const round = documentsRound(options, 60_000, Date.now, limits);
  return {
    round: () => round((records) => log.append(records)),
    read: () =>
      log
        .readings()
        .flatMap((one) => (one.type === 'metadata' ? [{ mint: one.mint, error: one.error }] : [])),
  };
}

async function read(targets: readonly MetadataTarget[], gateway: string) {
  const { round, read } = roundOver(targets, gateway, { timeoutMs: PATIENCE_MS });
  await round();
  return read();
}

/** Timeouts that pass only when the test has them pass, however slow the machine is. */
function timeLimits() {
  const open: AbortController[] = [];
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
    const limit = new AbortController();
    open.push(limit);
    return limit.signal;
  });
  onTestFinished(() => timeout.mockRestore());
  return {
    pass: () => {
      for (const limit of open.splice(0)) limit.abort(new DOMException('it took too long', 'TimeoutError'));
    },
  };
}

test('documents for which the gateway times out do not keep later ones of it from being read', async () => {
  const limits = timeLimits();
  let looking = 0;
  const gateway = await serveAnswers(({ path }) => {
    if (!path.includes('dead')) return { body: { image: 'https://images.example/a.png' } };
    looking += 1;
    // Two are read at once, and nothing else is under way.
    if (looking % 2 === 0) limits.pass();
    return null;
  });
  // Each was read once, long ago, in this order.
  const named = (mint: string, uri: string) => target(mint, uri, uri);
  const dead = Array.from({ length: 12 }, (_, n) => named(`1 ${n}`, `ipfs://dead${n}`));
  const live = Array.from({ length: 6 }, (_, n) => named(`2 ${n}`, `ipfs://live${n}`));
  const readings = await read([...dead, ...live], gateway.url);
  await gateway.close();
  const errors = new Map(readings.map(({ mint, error }) => [mint, error]));
  expect(errors).toEqual(
    new Map([...dead, ...live].map(({ mint }) => [mint, mint.startsWith('1') ? 'timed out' : null])),
  );
});

test('a gateway that refuses connections is asked for at most five of its documents in a round', async () => {
  const gateway = await serveAnswers(() => null);
  await gateway.close();
  const targets = Array.from({ length: 30 }, (_, n) => target(`mint ${n}`, `ipfs://one${n}`));
  const readings = await read(targets, gateway.url);
  expect(readings.length).toBeLessThanOrEqual(5);
  expect(new Set(readings.map(({ error }) => error))).toEqual(new Set(['refused']));
});

test('a site that answers only every other request is still asked for all its documents', async () => {
  // An answer that breaks off counts as silence. As every other answer is whole, there are never four silences in a
  // row, not even with two requests at a time.
  const site = await serveAnswers(({ path }) =>
    Number(path.slice(1)) % 2 === 0
      ? { body: { image: 'https://images.example/a.png' } }
      : { headers: { 'content-length': '100000' }, body: '' },
  );
  const targets = Array.from({ length: 12 }, (_, n) =>
    target(`mint ${n}`, `${site.url}/${n}`, `${site.url}/${n}`),
  );
  const readings = await read(targets, 'https://gateway.example');
  await site.close();
  expect(readings).toHaveLength(12);
});

test('the newest of the documents never read get every other turn', async () => {
  const site = await serveAnswers(() => ({ body: { image: 'https://images.example/a.png' } }));
  const old = Array.from({ length: 40 }, (_, n) => target(`1 ${n}`, `${site.url}/${n}`));
  const targets = [...old, target('3', `${site.url}/known`, `${site.url}/known`)];
  const { round, read } = roundOver(targets, 'https://gateway.example');
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1e9).mockReturnValueOnce(0);
  await round();
  clock.mockRestore();
  expect(read()).toEqual([]);
  targets.splice(40, 0, target('2', `${site.url}/new`));
  await round();
  await site.close();
  const order = read().map(({ mint }) => mint);
  expect(order.length).toBe(42);
  // Two are read at once.
  expect(order.indexOf('2')).toBeLessThan(4);
  expect(order.indexOf('3')).toBeGreaterThan(36);
});

test('every other turn among documents that came up in the same round goes by lot, not by mint address', () => {
  const targets = Array.from({ length: 9 }, (_, n) => target(`mint ${n}`, `ipfs://one${n}`));
  const lots = [5, 6, 7, 8, 3, 4, 1, 2, 9];
  const order = createDocumentTurns(() => lots.shift() as number).order(targets);
  expect(order.slice(0, 4).map(({ mint }) => mint)).toEqual(['mint 0', 'mint 6', 'mint 1', 'mint 7']);
});
