import { pause } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/log.ts';
import type { Rpc } from '../runtime/rpc.ts';
import { decodeKey, encodeBase58 } from '../schemas/base58.ts';
import type { AccountRecord, LogRecord, TransactionRecord } from '../schemas/records.ts';
import { createFollowing, type Following } from './follow.ts';
import { createGapCloser } from './gaps.ts';
import { createGeyserClient, type StreamEndedError } from './geyser/client.ts';
import type { AccountUpdate, TransactionUpdate, Update } from './geyser/update.ts';
import type { Gap } from './history.ts';
import type { LogWriter } from './log/port.ts';
import { createNewcomers } from './newcomers.ts';
import { createOutbox } from './outbox.ts';
import { createReread, mayBeCut } from './reread.ts';
import { backoffMs, untilDone } from './retry.ts';
import { createAccountReader } from './rpc-accounts.ts';
import { Slots, type SlotsOutput } from './slots/machine.ts';
import type { StreamStore } from './store.ts';
import { watch } from './watchdog.ts';

export interface StreamOptions {
  endpoint: string;
  xToken: string | null;
  programId: string;
  launchpadProgramId: string;
  commitment: 'confirmed' | 'finalized';
  rpc: Rpc;
  log: LogWriter;
  store: StreamStore;
  logger: Logger;
  signal: AbortSignal;
  onEvent?: (event: StreamEvent) => void;
}

/** What a person or a metric wants to know of the stream. */
export type StreamEvent =
  | { type: 'released'; slot: bigint; blockTime: number | null; accounts: number; transactions: number }
  | { type: 'late' }
  | { type: 'tip'; slot: bigint }
  | { type: 'connected' }
  | { type: 'disconnected'; reason: string }
  | { type: 'gap'; gap: Gap; open: boolean };

/** A complete slot that waits this long for its parent shows that the stream has a hole. */
const HOLE_AFTER_SLOTS = 40;

/**
 * Streams the chain into the log until the signal is given: subscribes from where the log ends, orders slots, sends
 * their records and a marker behind each, follows addresses as they come up, and opens a gap where the stream cannot
 * reach back. Connection failures are retried for ever.
 */
export async function runStream(options: StreamOptions): Promise<void> {
  const { log, store, logger, signal, rpc, commitment, programId } = options;
  const client = createGeyserClient(options.endpoint, options.xToken);
  const following = await loadFollowing(options);
  const reader = createAccountReader(rpc, following.expectedAt);
  const outbox = createOutbox(log, { logger, signal });
  const position = await untilDone('reading the position', () => store.position(), options);
  if (signal.aborted) return;

  const report = (event: StreamEvent) => options.onEvent?.(event);
  const learn = (records: readonly AccountRecord[]) => {
    for (const record of records) newcomers.add(following.learn(record));
  };
  const send = (records: readonly LogRecord[]) => outbox.put(records);
  const reread = createReread({ rpc, send, logger, signal });
  const gaps = createGapCloser({
    rpc,
    log,
    programId,
    logger,
    signal,
    onGap: (gap, open) => report({ type: 'gap', gap, open }),
  });
  const newcomers = createNewcomers({
    rewrite: (fromSlot) => live?.resubscribe(request(fromSlot)),
    read: async (addresses, notBefore) => {
      const records = await untilDone(
        'reading followed accounts',
        () => reader.read(addresses, notBefore),
        options,
      );
      learn(records ?? []);
      await send(records ?? []);
      return records ?? [];
    },
  });
  const request = (fromSlot: bigint | null) => ({
    programId,
    addresses: following.addresses(),
    commitment,
    fromSlot,
  });

  let slots = new Slots(commitment, position ?? null);
  let live: { resubscribe(subscription: ReturnType<typeof request>): void } | null = null;
  /** Set while the first slot of a stream without replay decides where the gap before it ends. */
  let gapFrom: bigint | null = position === null || position === undefined ? 0n : null;

  const sweep = async (notBefore: bigint) => {
    const swept = await untilDone(
      'sweeping accounts',
      () => reader.readProgram(programId, notBefore),
      options,
    );
    if (swept === null) return;
    learn(swept.records);
    const found = new Set(swept.records.map(({ address }) => encodeBase58(address)));
    const others = following.addresses().filter((address) => !found.has(address));
    await send(swept.records);
    const rest = await untilDone('reading followed accounts', () => reader.read(others, notBefore), options);
    learn(rest ?? []);
    await send(rest ?? []);
  };

  const openGap = (base: bigint) => {
    if (gapFrom === null) return;
    const gap: Gap = { fromSlot: gapFrom, toSlot: base, toTime: slots.timeOf(base) };
    gapFrom = null;
    const { fromSlot, toSlot, toTime } = gap;
    void send([{ kind: 'gap', fromSlot, toSlot, toTime, closed: false }]).then(() => gaps.add(gap));
    void sweep(base);
  };

  const handle = (output: SlotsOutput) => {
    if (output.type === 'late') {
      report({ type: 'late' });
      const record = recordOf(output.update, output.blockTime, following);
      if (record.kind === 'account') learn([record]);
      void send([record]);
      return;
    }
    const { slot, parent, blockTime, accounts, transactions } = output.slot;
    const records: LogRecord[] = [];
    for (const update of accounts) {
      const record = accountRecord(update, blockTime, following);
      newcomers.add(following.learn(record));
      records.push(record);
    }
    for (const update of transactions) {
      records.push(transactionRecord(update, blockTime));
      if (mayBeCut(update.payload)) reread.add(update, blockTime);
    }
    records.push({ kind: 'marker', slot, parent, blockTime });
    void send(records).then(() =>
      report({
        type: 'released',
        slot,
        blockTime,
        accounts: accounts.length,
        transactions: transactions.length,
      }),
    );
    newcomers.onSlot(slot);
  };

  const streamOnce = (fromSlot: bigint | null): Promise<StreamEndedError> =>
    new Promise((resolve) => {
      const stream = client.subscribe(request(fromSlot), {
        onUpdate: (update: Update) => {
          const before = slots.last;
          const outputs = slots.take(update);
          dog.heard(slots.highest);
          if (before === null && slots.last !== null) {
            openGap(slots.last);
            report({ type: 'connected' });
          }
          for (const output of outputs) handle(output);
          if (update.type === 'slot' || update.type === 'blockMeta') {
            report({ type: 'tip', slot: slots.highest });
            if (slots.overflowing || (slots.missing()?.waiting ?? 0) > HOLE_AFTER_SLOTS) stream.cancel();
          }
          if (outbox.full() && !outbox.draining()) {
            stream.pause();
            void outbox.drained().then(() => stream.resume());
          }
        },
        onEnd: (error) => {
          dog.stop();
          signal.removeEventListener('abort', stop);
          live = null;
          resolve(error);
        },
      });
      const stop = () => stream.cancel();
      signal.addEventListener('abort', stop, { once: true });
      const dog = watch({ onSilence: () => stream.cancel(), paused: () => outbox.draining() });
      live = stream;
      newcomers.onNewStream();
    });

  for (const gap of (await untilDone('reading open gaps', () => store.openGaps(), options)) ?? [])
    gaps.add(gap);
  const cut = await untilDone(
    'reading incomplete transactions',
    () => store.incompleteTransactions(),
    options,
  );
  for (const transaction of cut ?? []) reread.addKnown(transaction);
  if (position !== null && position !== undefined) void sweep(position);

  let failures = 0;
  let holeAt: bigint | null = null;
  while (!signal.aborted) {
    slots.restart();
    const { last } = slots;
    const ended = await streamOnce(last === null ? null : last + 1n);
    if (signal.aborted) break;
    report({ type: 'disconnected', reason: ended.message });
    const hole = slots.missing();
    if (ended.outOfRange && slots.last !== null) {
      logger.warn({ slot: slots.last.toString() }, 'the replay does not reach back: opening a gap');
      gapFrom = slots.last + 1n;
      slots = new Slots(commitment, null);
      failures = 0;
      continue;
    }
    if (hole !== null && hole.waiting > HOLE_AFTER_SLOTS && holeAt === hole.fromSlot) {
      // The replay brought the same hole again: those slots are not to be had from the stream.
      gapFrom = hole.fromSlot;
      for (const output of slots.skipTo(hole.toSlot)) handle(output);
      openGap(hole.toSlot);
    }
    holeAt = hole?.fromSlot ?? null;
    failures = slots.last === last ? failures + 1 : 0;
    logger.warn({ reason: ended.message, code: ended.code, failures }, 'the stream ended');
    await pause(backoffMs(failures), signal);
  }
  client.close();
  await outbox.drained();
}

async function loadFollowing({
  store,
  programId,
  launchpadProgramId,
  ...rest
}: StreamOptions): Promise<Following> {
  const following = createFollowing(
    decodeKey(programId) as Uint8Array,
    decodeKey(launchpadProgramId) as Uint8Array,
  );
  const known = await untilDone('reading known accounts', () => store.knownAccounts(), rest);
  for (const { address, expected } of known ?? []) following.add(address, expected);
  return following;
}

function recordOf(
  update: AccountUpdate | TransactionUpdate,
  blockTime: number | null,
  following: Following,
): AccountRecord | TransactionRecord {
  return update.type === 'account'
    ? accountRecord(update, blockTime, following)
    : transactionRecord(update, blockTime);
}

function accountRecord(update: AccountUpdate, blockTime: number | null, following: Following): AccountRecord {
  const { slot, address, owner, lamports, data, writeVersion, signature } = update;
  const expected = following.expectedAt(address);
  return {
    kind: 'account',
    source: 'stream',
    slot,
    blockTime,
    address,
    owner,
    lamports,
    data,
    writeVersion,
    signature,
    expected,
  };
}

function transactionRecord(update: TransactionUpdate, blockTime: number | null): TransactionRecord {
  const { slot, signature, index, payload } = update;
  return {
    kind: 'transaction',
    source: 'stream',
    slot,
    blockTime,
    signature,
    index,
    order: 0,
    format: 'geyser',
    payload,
  };
}
