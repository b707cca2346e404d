import type { Logger } from '../../runtime/process/log.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import type { RpcNodes } from '../../runtime/rpc/rpc.ts';
import { onlySameChain } from '../../runtime/rpc/same-chain.ts';
import type { AccountRecord, LogRecord } from '../../schemas/records.ts';
import { decodeKey } from '../../schemas/solana/base58.ts';
import { createAccountReader } from '../accounts/account-reader.ts';
import type { Gap } from '../history/gap.ts';
import { createGapCloser } from '../history/gap-closer.ts';
import type { LogWriter } from '../log/port.ts';
import { createLateSlots } from '../verify/late-slots.ts';
import { checkAgainstChain } from './chain-checks.ts';
import { superviseStream } from './core-stream/supervisor.ts';
import { createCutLogsReader } from './cut-logs.ts';
import type { StreamEvent } from './event.ts';
import { createFollowed } from './followed-stream/followed.ts';
import { createFollowedAddresses } from './following/addresses.ts';
import { namedAddresses } from './following/named-addresses.ts';
import { writtenAccounts } from './following/written-accounts.ts';
import { createGeyserClient } from './geyser/client.ts';
import { limitsOf, type StreamLimits } from './limits.ts';
import { createOutbox } from './outbox.ts';
import { isHistoryRead, resumeUnfinished } from './resume-unfinished.ts';
import { createSlotOutput } from './slot-output.ts';
import { createSlotTimes } from './slot-times.ts';
import { Slots } from './slots/machine.ts';
import { createMadeTwice } from './slots/made-twice.ts';
import { createStateTeller } from './state.ts';
import type { StreamStore } from './stored-state.ts';
import { createStrangerTurns } from './sweeps/stranger-turns.ts';
import { createSweeper } from './sweeps/sweep.ts';
import { createUnreadable } from './unreadable.ts';

export interface StreamOptions extends StreamLimits {
  endpoint: string;
  xToken: string | null;
  programId: string;
  launchpadProgramId: string;
  /** The program has no transaction before this slot. */
  startSlot?: bigint;
  commitment: 'confirmed' | 'finalized';
  rpc: RpcNodes;
  log: LogWriter;
  store: StreamStore;
  logger: Logger;
  signal: AbortSignal;
  /** Mints and metadata accounts, whose addresses strangers chose, are read again after so many milliseconds. */
  againAfterMs?: number;
  /** Milliseconds between two comparisons of what is stored with the chain. */
  verifyEveryMs?: number;
  onEvent?: (event: StreamEvent) => void;
}

/**
 * Streams the chain into the log until the signal is given: subscribes from where the log ends, orders slots, sends
 * their records and a marker behind each, follows addresses as they come up, and opens a gap where the stream cannot
 * reach back. Failures of the stream, of RPC and of the log are retried for ever.
 */
export async function runStream(options: StreamOptions): Promise<void> {
  const { log, store, logger, signal, commitment, programId, startSlot = 0n } = options;
  const read = <T>(what: string, ask: () => Promise<T>) => retryUntilDone(`reading ${what}`, ask, options);
  const ended = await read('the position', async () => ({ position: await store.position() }));
  if (ended === null) return;
  const position = ended.position?.slot ?? null;
  const listed = await read('whether accounts were listed', async () => ({
    slot: await store.listedSlot(position),
  }));
  if (listed === null) return;
  const teller = createStateTeller({ log, listedSlot: listed.slot, logger, signal });
  /** The slot of the last marker in the log. */
  let marked = position ?? 0n;
  const report = (event: StreamEvent) => {
    if (event.type === 'released') marked = event.slot;
    teller.onEvent(event);
    options.onEvent?.(event);
  };
  const telling = teller.run();
  const known = await read('known accounts', () => store.knownAccounts());
  const lost = await read('what no stream carries', () => store.uncarried());
  if (known === null || lost === null) return;

  const program = decodeKey(programId) as Uint8Array;
  let onNamed = (_address: string, _isNamed: boolean) => {};
  const following = createFollowedAddresses(
    program,
    decodeKey(options.launchpadProgramId) as Uint8Array,
    (address, isNamed) => onNamed(address, isNamed),
  );
  for (const { address, expected, named } of known) following.add(address, expected, named);
  const slots = new Slots(commitment, position);
  const late = createLateSlots();
  const outbox = createOutbox(log, { logger, signal });
  const send = (records: readonly LogRecord[]) => outbox.put(records);
  const learn = (record: AccountRecord) => {
    beside.told(record);
    for (const turns of strangers) turns.told(record);
    beside.add(following.learn(record));
  };

  const rpc = onlySameChain(options.rpc, {
    place: () => slots.place(),
    onOthers: (others, addresses) => report({ type: 'compared', others, addresses }),
  });
  const timeOf = createSlotTimes({
    told: (slot) => slots.timeOf(slot),
    passed: (slot) => slots.last !== null && slots.last >= slot,
    ...{ rpc, signal },
  });
  const reader = createAccountReader(rpc, following, timeOf, () => slots.last);
  const limits = limitsOf(options);
  const sweeper = createSweeper({
    ...{ reader, programId: program, mints: following.mints, send, logger, signal, ...limits },
    named: async () => namedAddresses(program, await store.unreadAccounts()),
    isKnown: (address) => following.expectedAt(decodeKey(address) as Uint8Array) === 'program',
    isHistoryRead: () => isHistoryRead(store, { startSlot, position }),
    addresses: () => [...following.streamed(), ...following.namedBalances()],
    brought: () => beside.cover.brought(),
    onListed: (listed) => report({ type: 'listed', listed, slot: marked + 1n }),
    learn: (records) => records.forEach(learn),
  });
  const madeTwice = createMadeTwice(sweeper.request);
  const reread = createCutLogsReader({ rpc, send, logger, signal });
  const gaps = createGapCloser({
    ...{ rpc, log, store, programId, logger, signal, startSlot },
    onGap: (gap, open) => report({ type: 'gap', gap, open }),
    onStalled: (reason) => report({ type: 'stalled', reason }),
    reached: () => output.sentUpTo(),
  });

  const unreadable = createUnreadable({
    ...{ gaps, sweeper, reread, send, readAll: madeTwice.found, last: () => slots.last },
    warn: (what, sentence) => logger.warn(what, sentence),
  });

  let swept = false;
  const addGap = (gap: Gap) => {
    const { fromSlot, toSlot, toTime } = gap;
    // Sent through the outbox, so that it stands in the log before any transaction behind the gap.
    gaps.add(gap, () => send([{ kind: 'gap', fromSlot, toSlot, toTime, closed: false }]));
  };
  const openGap = (gap: Gap) => {
    addGap(gap);
    sweeper.request(gap.toSlot);
    swept = true;
  };
  const strangers = (['mint', 'metadata'] as const).map((expected) =>
    createStrangerTurns({
      ...{ expected, send, learn, logger, signal },
      ...(options.againAfterMs === undefined ? {} : { againAfterMs: options.againAfterMs }),
      read: (addresses, notBefore) => reader.readUntrusted(addresses, notBefore, expected),
      addresses: expected === 'mint' ? following.mints : following.metadata,
      notBefore: () => slots.last ?? 0n,
    }),
  );

  const begin = () => {
    // Not earlier: without a slot of the stream, a node of another chain cannot be recognised.
    for (const turns of strangers) void turns.run();
    if (position !== null && !swept) sweeper.request(position);
    void resumeUnfinished({
      ...{ store, position, following, followed: beside, gaps, startSlot, reread, logger, signal },
      openGap: addGap,
    });
    checkAgainstChain({
      ...{ store, rpc, commitment, log, programId, startSlot, late, logger, signal },
      ...(options.verifyEveryMs === undefined ? {} : { everyMs: options.verifyEveryMs }),
      onVerified: (found) => report({ type: 'verified', ...found }),
      onUnread: gaps.unread,
      accounts: {
        writtenBy: (record) => writtenAccounts(record, following.isStreamed),
        read: (addresses, notBefore) => void sweeper.read(addresses, notBefore),
        readAll: madeTwice.found,
      },
    });
  };

  const output = createSlotOutput({
    ...{ slots, late, following, unreadable, madeTwice, followed: () => beside },
    ...{ send, learn, report, openGap, onBegin: begin },
    ...{ position, gapFrom: position === null ? startSlot : null },
  });

  const client = createGeyserClient(options.endpoint, options.xToken);
  const beside = createFollowed({
    ...{ client, slots, commitment, reader, learn, send, logger, signal, ...limits },
    handle: output.handle,
    position: ended.position,
    ...{ lost, expectedAt: following.expectedAt },
    programId: program,
    addresses: following.streamed,
    named: following.namedBalances,
    read: (addresses, notBefore) => void sweeper.read(addresses, notBefore),
    reread: sweeper.reread,
    onUnreadable: unreadable.followedUpdate,
    onFollowed: (followed) => report({ type: 'followed', ...followed }),
  });
  onNamed = beside.onNamed;
  const streamingBeside = beside.run();
  await superviseStream({
    ...{ client, slots, outbox, logger, signal, ...limits },
    // All nodes, also those that may seem to be of another chain: they may have been far behind, or away, for as long
    // as the stream was.
    rpc: options.rpc,
    subscription: (fromSlot) => ({ programId, addresses: [], commitment, fromSlot }),
    onUpdate: (update, outputs) => {
      if (update.type === 'unreadable') unreadable.update(update);
      for (const one of outputs) output.handle(one);
      beside.onCore();
      if (update.type === 'slot' || update.type === 'blockMeta') report({ type: 'tip', slot: slots.highest });
    },
    onOutOfReach: output.beginsAnew,
    onHole: (gap, outputs) => {
      openGap(gap);
      for (const one of outputs) output.handle(one);
    },
    onBegin: beside.onCoreBegin,
    onEnd: (reason, brought, isOurs) => {
      report({ type: 'disconnected', reason });
      beside.onCoreEnd(brought, isOurs);
    },
  });
  await Promise.all([streamingBeside, telling]);
  client.close();
  await outbox.drained();
}
