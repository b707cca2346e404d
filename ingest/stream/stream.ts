import type { Logger } from '../../runtime/log.ts';
import { retryUntilDone } from '../../runtime/retry.ts';
import type { Rpc } from '../../runtime/rpc.ts';
import { decodeKey } from '../../schemas/base58.ts';
import type { AccountRecord, LogRecord } from '../../schemas/records.ts';
import { createAccountReader } from '../history/account-reader.ts';
import type { Gap } from '../history/gap.ts';
import { createGapCloser } from '../history/gap-closer.ts';
import type { LogWriter } from '../log/port.ts';
import { createCutLogsReader, mayBeCut } from './cut-logs.ts';
import { createFollowedAddresses } from './following/addresses.ts';
import { createNewcomers } from './following/newcomers.ts';
import { createSweeper } from './following/sweep.ts';
import { createGeyserClient, type GeyserStream, type Subscription } from './geyser/client.ts';
import { createOutbox } from './outbox.ts';
import { resumeUnfinished } from './resume-unfinished.ts';
import { Slots, type SlotsOutput } from './slots/machine.ts';
import { recordsOf } from './slots/records.ts';
import type { StreamStore } from './stored-state.ts';
import { superviseStream } from './supervisor.ts';

export interface StreamOptions {
  endpoint: string;
  xToken: string | null;
  programId: string;
  launchpadProgramId: string;
  /** Nothing of the program is older. */
  startSlot?: bigint;
  commitment: 'confirmed' | 'finalized';
  rpc: Rpc;
  log: LogWriter;
  store: StreamStore;
  logger: Logger;
  signal: AbortSignal;
  /** A stream without a new slot for this long is started again. */
  silenceMs?: number;
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

/**
 * Streams the chain into the log until the signal is given: subscribes from where the log ends, orders slots, sends
 * their records and a marker behind each, follows addresses as they come up, and opens a gap where the stream cannot
 * reach back. Failures of the stream, of RPC and of the log are retried for ever.
 */
export async function runStream(options: StreamOptions): Promise<void> {
  const { log, store, logger, signal, rpc, commitment, programId, startSlot = 0n } = options;
  const report = (event: StreamEvent) => options.onEvent?.(event);
  const known = await retryUntilDone('reading known accounts', () => store.knownAccounts(), options);
  const stored = await retryUntilDone(
    'reading the position',
    async () => ({ position: await store.position() }),
    options,
  );
  if (known === null || stored === null) return;
  const { position } = stored;

  const following = createFollowedAddresses(
    decodeKey(programId) as Uint8Array,
    decodeKey(options.launchpadProgramId) as Uint8Array,
  );
  for (const { address, expected } of known) following.add(address, expected);
  const slots = new Slots(commitment, position);
  const outbox = createOutbox(log, { logger, signal });
  const send = (records: readonly LogRecord[]) => outbox.put(records);
  const learn = (record: AccountRecord) => newcomers.add(following.learn(record));

  const reader = createAccountReader(rpc, following.expectedAt);
  const sweeper = createSweeper({
    ...{ reader, programId, addresses: following.addresses, send, logger, signal },
    learn: (records) => records.forEach(learn),
  });
  const reread = createCutLogsReader({ rpc, send, logger, signal });
  const gaps = createGapCloser({
    ...{ rpc, log, programId, logger, signal, startSlot },
    onGap: (gap, open) => report({ type: 'gap', gap, open }),
  });

  let live: GeyserStream | null = null;
  let requests = 0;
  const subscription = (fromSlot: bigint | null): Required<Subscription> => {
    requests += 1;
    const addresses = following.addresses();
    return { programId, addresses, commitment, fromSlot, name: `request-${requests}` };
  };
  const newcomers = createNewcomers({
    rewrite: (fromSlot) => {
      const next = subscription(fromSlot);
      live?.resubscribe(next);
      return next.name;
    },
    read: (addresses, notBefore) => void sweeper.read(addresses, notBefore),
  });

  /** First slot of the gap that ends where the stream begins; null where it begins where the log ends. */
  let gapFrom: bigint | null = position === null ? startSlot : null;
  let swept = false;
  const openGap = (gap: Gap) => {
    const { fromSlot, toSlot, toTime } = gap;
    // In the order of the outbox, before any transaction behind the gap.
    gaps.add(gap, send([{ kind: 'gap', fromSlot, toSlot, toTime, closed: false }]));
    sweeper.request(toSlot);
    swept = true;
  };
  const handle = (output: SlotsOutput) => {
    if (output.type === 'begun') {
      if (gapFrom === null) return;
      openGap({ fromSlot: gapFrom, toSlot: output.slot, toTime: output.blockTime });
      gapFrom = null;
      return;
    }
    const records = recordsOf(output, learn, following);
    const sent = send(records);
    if (output.type === 'late') {
      if (output.update.type === 'transaction' && mayBeCut(output.update.payload)) {
        reread.add(output.update, output.blockTime);
      }
      report({ type: 'late' });
      return;
    }
    const { slot, blockTime, accounts, transactions } = output.slot;
    for (const update of transactions) if (mayBeCut(update.payload)) reread.add(update, blockTime);
    const counts = { accounts: accounts.length, transactions: transactions.length };
    void sent.then(() => report({ type: 'released', slot, blockTime, ...counts }));
    newcomers.onSlot(slot);
  };

  let begun = false;
  const begin = () => {
    begun = true;
    if (position !== null && !swept) sweeper.request(position);
    void resumeUnfinished({ store, position, following, newcomers, gaps, reread, logger, signal });
  };

  const client = createGeyserClient(options.endpoint, options.xToken);
  await superviseStream({
    ...{ client, slots, outbox, logger, signal, subscription },
    ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
    onStream: (stream, { name }) => {
      live = stream;
      newcomers.onNewStream(name as string);
    },
    onUpdate: (update, outputs) => {
      for (const output of outputs) handle(output);
      if (update.type === 'blockMeta') newcomers.onFilter(update.filter ?? '', update.slot);
      if (update.type === 'slot' || update.type === 'blockMeta') report({ type: 'tip', slot: slots.highest });
      if (outputs.length === 0) return;
      report({ type: 'connected' });
      if (!begun) begin();
    },
    onOutOfReach: (fromSlot) => {
      gapFrom = fromSlot;
    },
    onHole: (gap, outputs) => {
      openGap(gap);
      for (const output of outputs) handle(output);
    },
    onEnd: (reason) => {
      live = null;
      report({ type: 'disconnected', reason });
    },
  });
  client.close();
  await outbox.drained();
}
