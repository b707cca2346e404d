import type { Logger } from '../../runtime/process/log.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { settleProfitsForever } from '../history/settle-profits.ts';
import { tellTimesForever } from '../history/tell-times.ts';
import type { LogWriter } from '../log/port.ts';
import type { LateSlots } from '../verify/late-slots.ts';
import { type VerifyOptions, verifyForever } from '../verify/verify.ts';
import type { StreamStore } from './stored-state.ts';

export interface ChainChecksOptions {
  store: StreamStore;
  rpc: Rpc;
  log: LogWriter;
  programId: string;
  startSlot: bigint;
  /** Slots that the stream brought something of behind their release. */
  late: LateSlots;
  /** How far apart each of them looks. */
  everyMs?: number;
  onVerified: NonNullable<VerifyOptions['onVerified']>;
  onUnread: NonNullable<VerifyOptions['onUnread']>;
  accounts: NonNullable<VerifyOptions['accounts']>;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Compares what is stored with the chain over RPC, until the signal is given: times that no stream told, profits that
 * sweeps left open, transactions that were left out or that the chain does not have. As far as anything is stored.
 */
export function checkAgainstChain({
  store,
  programId,
  late,
  onVerified,
  onUnread,
  accounts,
  ...common
}: ChainChecksOptions): void {
  const { verification, sweeps, undated, openGaps } = store;
  if (undated !== undefined) void tellTimesForever({ ...common, store: undated });
  if (verification === undefined) return;
  const { verifiedSlot } = verification;
  if (sweeps !== undefined) void settleProfitsForever({ ...common, store: sweeps, verifiedSlot, openGaps });
  void verifyForever({
    ...common,
    ...{ programId, late, accounts, openGaps, onVerified, onUnread, store: verification },
    applied: store.applied ?? (async () => (await store.position())?.slot ?? null),
  });
}
