import { afterEach, describe, expect, test } from 'vitest';
import type { Gap } from '../../ingest/history/gap.ts';
import { HistoryUnavailableError } from '../../ingest/history/gap.ts';
import { closeGap } from '../../ingest/history/read-history.ts';
import { historySlices } from '../../ingest/history/signature-slices.ts';
import type { LogWriter } from '../../ingest/log/port.ts';
import { createRpc, type Rpc } from '../../runtime/rpc.ts';
import { encodeBase58 } from '../../schemas/base58.ts';
import type { LogRecord } from '../../schemas/records.ts';
import { ledgerTransactions } from './support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from './support/stream-stage.ts';

let stage: StreamStage;
afterEach(() => stage.close());

async function open(blocks: number): Promise<Rpc> {
  stage = await openStreamStage({ seed: 'history', policies: 10 });
  await stage.live(blocks);
  return createRpc(stage.rpc.url, { commitment: 'confirmed' });
}

function listWriter(): LogWriter & { records: LogRecord[] } {
  const records: LogRecord[] = [];
  return { records, append: async (added) => void records.push(...added), close: async () => {} };
}

const never = new AbortController().signal;
const wholeGap = (): Gap => ({ fromSlot: 0n, toSlot: stage.chain.tip().slot, toTime: null });
const signaturesIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.kind === 'transaction' ? [encodeBase58(record.signature)] : []));
const gapsIn = (records: readonly LogRecord[]) => records.filter((record) => record.kind === 'gap');

describe('history', () => {
  test('brings every transaction of the interval once, and says how far it is after each slice', async () => {
    const rpc = await open(300);
    const log = listWriter();
    await closeGap(wholeGap(), { rpc, log, programId: stage.chain.programId, signal: never });
    const expected = ledgerTransactions(stage.chain).map(({ signature }) => signature);
    const brought = signaturesIn(log.records);
    expect(new Set(brought).size).toBe(brought.length);
    expect(expected.filter((signature) => !brought.includes(signature))).toEqual([]);
    const gaps = gapsIn(log.records);
    expect(gaps.length).toBeGreaterThan(2);
    expect(gaps.at(-1)).toEqual({ kind: 'gap', fromSlot: 0n, toSlot: 0n, toTime: null, closed: true });
    // Nothing at or below an open gap's end came before it in the log.
    log.records.forEach((record, at) => {
      if (record.kind !== 'gap' || record.closed) return;
      const later = log.records.slice(at).filter((next) => next.kind === 'transaction');
      expect(later.every((next) => next.slot <= record.toSlot)).toBe(true);
    });
  });

  test('goes on where it was broken off', async () => {
    const rpc = await open(300);
    const log = listWriter();
    const stop = new AbortController();
    const gap = wholeGap();
    await closeGap(gap, {
      ...{ rpc, log, programId: stage.chain.programId, signal: stop.signal },
      onProgress: (left) => {
        gap.toSlot = left.toSlot;
        stop.abort();
      },
    });
    expect(gapsIn(log.records)).toHaveLength(1);
    const before = signaturesIn(log.records);
    await closeGap(gap, { rpc, log, programId: stage.chain.programId, signal: never });
    const all = signaturesIn(log.records);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(before.length);
    const missing = ledgerTransactions(stage.chain).filter(({ signature }) => !all.includes(signature));
    expect(missing).toEqual([]);
  });

  test('keeps the gap open where the node does not have a transaction, and asks again first', async () => {
    const rpc = await open(20);
    const { signature } = ledgerTransactions(stage.chain)[3] as { signature: string };
    let asked = 0;
    const lacking: Rpc = {
      ...rpc,
      getTransaction: async (wanted) => {
        if (wanted !== signature) return rpc.getTransaction(wanted);
        asked += 1;
        return asked < 3 ? null : rpc.getTransaction(wanted);
      },
    };
    const log = listWriter();
    await closeGap(wholeGap(), { rpc: lacking, log, programId: stage.chain.programId, signal: never });
    expect(asked).toBe(3);
    expect(signaturesIn(log.records)).toContain(signature);
    const without: Rpc = {
      ...rpc,
      getTransaction: async (wanted) => (wanted === signature ? null : rpc.getTransaction(wanted)),
    };
    const kept = listWriter();
    const closing = closeGap(wholeGap(), {
      rpc: without,
      log: kept,
      programId: stage.chain.programId,
      signal: never,
    });
    await expect(closing).rejects.toThrow(signature);
    expect(gapsIn(kept.records).filter(({ closed }) => closed)).toEqual([]);
  });

  test('does not take the list of a node that is behind, forgot its first blocks or lost its place for the whole', async () => {
    const rpc = await open(40);
    const tip = stage.chain.tip().slot;
    const list = async (changed: Partial<Rpc>) => {
      const slices = historySlices(wholeGap(), {
        ...{ rpc: { ...rpc, ...changed }, programId: stage.chain.programId, signal: never },
      });
      for await (const _ of slices);
    };
    await expect(list({ getSlot: async () => tip - 1n })).rejects.toThrow(HistoryUnavailableError);
    await expect(list({ getFirstAvailableBlock: async () => 7n })).rejects.toThrow('first block is 7');
    const page = await rpc.getSignaturesForAddress(stage.chain.programId, null, 5);
    const fullPage = Array.from({ length: 1_000 }, (_, at) => page[at % 5] as (typeof page)[number]);
    await expect(
      list({
        getSignaturesForAddress: async (_, before) => (before === null ? fullPage : []),
        getTransaction: async () => null,
      }),
    ).rejects.toThrow('does not know');
  });
});
