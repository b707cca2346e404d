import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  POLITE,
  RPC_MANNERS,
  type RpcMannersName,
  WITHHOLDING_MANNERS,
} from '../../../devnet/rpc/manners.ts';
import { type Gap, HistoryUnavailableError, NotSettledError } from '../../../ingest/history/gap.ts';
import { closeGap, type HistoryOptions, type UnreadGap } from '../../../ingest/history/read-history.ts';
import { historySlices } from '../../../ingest/history/signature-slices.ts';
import type { LogWriter } from '../../../ingest/log/port.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { ledgerTransactions } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

let stage: StreamStage;
let rpc: Rpc;
let top: bigint;

beforeAll(async () => {
  stage = await openStreamStage({ seed: 'history', policies: 10 });
  await stage.live(250);
  top = stage.chain.tip().slot;
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
});
afterEach(() => stage.rpc.faults.behave(POLITE));
afterAll(() => stage.close());

function listWriter(): LogWriter & { records: LogRecord[] } {
  const records: LogRecord[] = [];
  return { records, append: async (added) => void records.push(...added), close: async () => {} };
}

const never = new AbortController().signal;
const wholeGap = (): Gap => ({ fromSlot: 0n, toSlot: top, toTime: null });
const signaturesIn = (records: readonly LogRecord[]) =>
  records.flatMap((record) => (record.kind === 'transaction' ? [encodeBase58(record.signature)] : []));
const gapsIn = (records: readonly LogRecord[]) => records.filter((record) => record.kind === 'gap');
const ledger = () => ledgerTransactions(stage.chain).map(({ signature }) => signature);

async function read(gap: Gap, changed: Partial<Rpc> = {}, more: Partial<HistoryOptions> = {}) {
  const log = listWriter();
  const options = { rpc: { ...rpc, ...changed }, log, programId: stage.chain.programId, signal: never };
  await closeGap(gap, { ...options, ...more });
  return log.records;
}

async function list(changed: Partial<Rpc>, gap = wholeGap(), startSlot = 0n) {
  const options = { rpc: { ...rpc, ...changed }, programId: stage.chain.programId, signal: never };
  const found: string[] = [];
  for await (const slice of historySlices(gap, { ...options, startSlot }))
    found.push(...slice.signatures.map(({ signature }) => signature));
  return found;
}

describe('history', () => {
  test('reads every transaction of the interval once, and logs how far it has come after each slice', async () => {
    const records = await read(wholeGap());
    const brought = signaturesIn(records);
    expect(new Set(brought).size).toBe(brought.length);
    expect(ledger().filter((signature) => !brought.includes(signature))).toEqual([]);
    const gaps = gapsIn(records);
    expect(gaps.length).toBeGreaterThan(2);
    expect(gaps.at(-1)).toEqual({ kind: 'gap', fromSlot: 0n, toSlot: 0n, toTime: null, closed: true });
    // Nothing at or below an open gap's end came before it in the log.
    records.forEach((record, at) => {
      if (record.kind !== 'gap' || record.closed) return;
      const later = records.slice(at).filter((next) => next.kind === 'transaction');
      expect(later.every((next) => next.slot <= record.toSlot)).toBe(true);
    });
  });

  test('resumes where it was interrupted, without listing the newer part again', async () => {
    const stop = new AbortController();
    let left = wholeGap();
    const onProgress = (rest: Gap) => {
      left = rest;
      stop.abort();
    };
    const before = await read(wholeGap(), {}, { signal: stop.signal, onProgress });
    expect(gapsIn(before)).toHaveLength(1);
    const asked: (string | null)[] = [];
    const after = await read(left, {
      getSignaturesForAddress: (address, place, limit, options) => {
        asked.push(place);
        return rpc.getSignaturesForAddress(address, place, limit, options);
      },
    });
    expect(asked).not.toContain(null);
    const all = [...signaturesIn(before), ...signaturesIn(after)];
    expect(new Set(all).size).toBe(all.length);
    expect(ledger().filter((signature) => !all.includes(signature))).toEqual([]);
  });

  test('asks again for a transaction that a node lists and does not have yet', async () => {
    const { signature } = ledgerTransactions(stage.chain)[3] as { signature: string };
    stage.rpc.faults.behave({ withheld: { affects: (one) => one === signature, times: 2 } });
    expect(signaturesIn(await read(wholeGap()))).toContain(signature);
  });

  test.each([
    ['none has', { getTransaction: async () => null }],
    ['comes without its meta', { getTransaction: async () => ({ meta: null, transaction: {} }) }],
  ])('leaves a gap of one slot for a listed transaction that %s, and reads the rest', async (_, answer) => {
    const all = ledgerTransactions(stage.chain);
    const lacking = all[Math.floor(all.length / 2)] as { signature: string; slot: bigint };
    const told: UnreadGap[] = [];
    const unread: Partial<Rpc> = {
      getTransaction: (one) =>
        one === lacking.signature ? answer.getTransaction() : rpc.getTransaction(one),
    };
    const records = await read(wholeGap(), unread, { onUnread: (gaps) => void told.push(...gaps) });
    const { signature, slot } = lacking;
    expect(told).toMatchObject([{ fromSlot: slot, toSlot: slot, signature }]);
    const gaps = gapsIn(records);
    expect(gaps.filter(({ fromSlot }) => fromSlot === slot)).toMatchObject([
      { toSlot: slot, closed: false, obstacle: { type: 'unread', signature } },
    ]);
    expect(gaps.at(-1)).toMatchObject({ fromSlot: 0n, closed: true });
    expect(ledger().filter((one) => !signaturesIn(records).includes(one))).toEqual([signature]);

    const [small] = told as [UnreadGap];
    await expect(read(small, unread)).rejects.toThrow(signature);
    const mended = await read(small);
    expect(signaturesIn(mended)).toContain(signature);
    expect(gapsIn(mended).at(-1)).toMatchObject({ fromSlot: slot, closed: true });
  });

  test('does not begin before the node is 32 slots past the gap', async () => {
    const tip = stage.chain.tip().slot;
    await expect(list({}, { ...wholeGap(), toSlot: tip - 31n })).rejects.toThrow(NotSettledError);
    expect((await list({}, { ...wholeGap(), toSlot: tip - 32n })).length).toBeGreaterThan(0);
  });

  test('fails if the two lists of its top differ, both of nodes that are 32 slots past the gap', async () => {
    const leasts = new Set<bigint | undefined>();
    const lacking = (which: 'first' | 'second'): Partial<Rpc> => {
      let asked = 0;
      return {
        getSignaturesForAddress: async (address, before, limit, options) => {
          asked += 1;
          leasts.add(options?.minContextSlot);
          const page = await rpc.getSignaturesForAddress(address, before, limit, options);
          return (asked === 1) === (which === 'first') ? page.filter((_, at) => at !== 4) : page;
        },
      };
    };
    await expect(list(lacking('first'))).rejects.toThrow('the first list lacked');
    await expect(list(lacking('second'))).rejects.toThrow('the second list lacks');
    expect([...leasts]).toEqual([top + 32n]);
  });

  test.each([1, 7])('does not take a short page for the last one (%i signatures a page)', async (cap) => {
    const short: Partial<Rpc> = {
      getSignaturesForAddress: (address, before, _, options) =>
        rpc.getSignaturesForAddress(address, before, cap, options),
    };
    expect(await list(short)).toEqual(await list({}));
  });

  test('fails, instead of ending, at an empty or disconnected page of a node that does not know the place', async () => {
    const forgetful: Partial<Rpc> = {
      getSignaturesForAddress: async (address, before, _, options) =>
        before === null ? rpc.getSignaturesForAddress(address, null, 10, options) : [],
    };
    await expect(list(forgetful)).rejects.toThrow('does not know');
    const elsewhere: Partial<Rpc> = {
      getSignaturesForAddress: async (address, before, _, options) => {
        const page = await rpc.getSignaturesForAddress(address, before, 10, options);
        return before === null ? page : page.slice(1);
      },
    };
    await expect(list(elsewhere)).rejects.toThrow('does not go on with');
  });

  test('ends at the start slot; over a node that keeps less, the error names PROGRAM_START_SLOT', async () => {
    const firstBlock = 60n;
    stage.rpc.faults.behave({ firstBlock });
    const failure: HistoryUnavailableError = await list({}).then(
      () => new Error('it listed'),
      (error) => error,
    );
    expect(failure).toBeInstanceOf(HistoryUnavailableError);
    expect(failure.message).toContain('PROGRAM_START_SLOT');
    expect(failure.obstacle).toEqual({ type: 'pruned', firstSlot: firstBlock });
    const found = await list({}, wholeGap(), firstBlock);
    const kept = ledgerTransactions(stage.chain).filter(({ slot }) => slot >= firstBlock);
    expect(kept.filter(({ signature }) => !found.includes(signature))).toEqual([]);
  });

  const READABLE = Object.entries(RPC_MANNERS).filter(
    ([name]) => !WITHHOLDING_MANNERS.has(name as RpcMannersName),
  );

  test.each([...READABLE, ['unlisted', RPC_MANNERS.unlisted] as const])(
    'reads every transaction over a node with bad manners: %s',
    async (_, manners) => {
      stage.rpc.faults.behave(manners);
      const gap = { ...wholeGap(), toSlot: top - 60n };
      const wanted = ledgerTransactions(stage.chain).filter(({ slot }) => slot <= gap.toSlot);
      let records: LogRecord[] = [];
      for (let tries = 0; records.length === 0; tries += 1) {
        records = await read(gap).catch((error) => {
          if (tries === 5) throw error;
          return [];
        });
      }
      const brought = signaturesIn(records);
      expect(wanted.filter(({ signature }) => !brought.includes(signature))).toEqual([]);
    },
  );
});
