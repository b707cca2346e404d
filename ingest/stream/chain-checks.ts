import type { Logger } from '../../runtime/process/log.ts';
import type { Commitment, Rpc } from '../../runtime/rpc/rpc.ts';
import { dateStatesForever } from '../history/date-states.ts';
import { settleProfitsForever } from '../history/settle-profits.ts';
import type { LogWriter } from '../log/port.ts';
import type { LateSlots } from '../verify/late-slots.ts';
import { type VerifyOptions, verifyForever } from '../verify/verify.ts';
import type { StreamStore } from './stored-state.ts';

export interface ChainChecksOptions {
  store: StreamStore;
  rpc: Rpc;
  commitment: Commitment;
  log: LogWriter;
  programId: string;
  startSlot: bigint;
  /** Slots of which the stream brought transactions after it had released them. */
  late: LateSlots;
  /** Milliseconds between two rounds of a check, but for slot times. */
  everyMs?: number;
  onVerified: NonNullable<VerifyOptions['onVerified']>;
  onUnread: NonNullable<VerifyOptions['onUnread']>;
  accounts: NonNullable<VerifyOptions['accounts']>;
  logger: Logger;
  signal: AbortSignal;
}

/**
 * Starts the checks of what is stored against the chain over RPC, which run until the signal aborts: times that no
 * stream told, profits that sweeps left open, transactions that the stream left out or that the chain does not have. A
 * check runs only where the store has its part.
 */
export function checkAgainstChain({
  store,
  programId,
  commitment,
  late,
  onVerified,
  onUnread,
  accounts,
  ...common
}: ChainChecksOptions): void {
  const { verification, sweeps, undated, openGaps } = store;
  if (undated !== undefined) void dateStatesForever({ ...common, store: undated });
  if (verification === undefined) return;
  const { verifiedSlot } = verification;
  if (sweeps !== undefined) void settleProfitsForever({ ...common, store: sweeps, verifiedSlot, openGaps });
  void verifyForever({
    ...common,
    ...{ programId, commitment, late, accounts, openGaps, onVerified, onUnread, store: verification },
    applied: store.applied ?? (async () => (await store.position())?.slot ?? null),
  });
}
