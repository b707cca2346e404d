import { messageOf } from '../../runtime/errors.ts';
import { pause } from '../../runtime/process/lifecycle.ts';
import type { Logger } from '../../runtime/process/log.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { lacks, PROFIT } from '../../schemas/incomplete.ts';
import type { ProfitRecord } from '../../schemas/records.ts';
import { decodeBase58 } from '../../schemas/solana/base58.ts';
import type { LogWriter } from '../log/port.ts';
import { fetchTransaction } from './fetch-transaction.ts';
import type { Gap } from './gap.ts';
import { type Legs, type Mark, profitOf } from './swept-profit.ts';

/** A transaction with cut logs that tells everything but the profit it swept of these policies. */
export interface UnsettledSweep {
  signature: string;
  slot: bigint;
  policies: readonly string[];
}

export type SweepPlace = Pick<UnsettledSweep, 'slot' | 'signature'>;

/** A sweep of a policy; in a transaction with cut logs, all of the policy's sweeps as one. */
export interface StoredSweep extends Legs {
  signature: string;
  profit: bigint;
  index: number | null;
  /** Its order in the slot while `index` is null. */
  order: number;
  blockTime: number | null;
}

/** What is stored of sweeps and of the states around them. */
export interface SweepStore {
  /** The first `most` behind a place, by slot and signature, up to slot `upTo`. */
  unsettled(upTo: bigint, behind: SweepPlace, most: number): Promise<UnsettledSweep[]>;
  /**
   * The last mark before a slot, and the first at it or later, each followed by the next further away, where there is
   * one.
   */
  marksAround(policy: string, slot: bigint): Promise<{ before: Mark[]; after: Mark[] }>;
  sweepsBetween(policy: string, after: bigint, upTo: bigint): Promise<StoredSweep[]>;
  missingBetween(
    policy: string,
    after: bigint,
    upTo: bigint,
  ): Promise<{ signature: string; missing: string[] }[]>;
}

export interface SettleOptions {
  rpc: Pick<Rpc, 'getTransaction'>;
  log: Pick<LogWriter, 'append'>;
  store: SweepStore;
  startSlot: bigint;
  /** The slot up to which what is stored is what the chain says; null: none. */
  verifiedSlot(): Promise<bigint | null>;
  openGaps(): Promise<Gap[]>;
  logger: Logger;
  signal: AbortSignal;
  everyMs?: number;
}

const EVERY_MS = 30_000;
/** Sweeps looked at in one round: those that nothing will ever settle come again after all others. */
const MOST_AT_ONCE = 50;
const START: SweepPlace = { slot: 0n, signature: '' };

/**
 * Tells the log the profits of sweeps whose logs were cut, once everything between the policy's states around each is
 * what the chain says. Goes on until the signal aborts.
 */
export async function settleProfitsForever(options: SettleOptions): Promise<void> {
  const { logger, signal, everyMs = EVERY_MS } = options;
  /** Profits that were told and may not be applied yet, by signature and policy. */
  const told = new Set<string>();
  let place = START;
  while (!signal.aborted) {
    try {
      place = await settleProfits(options, told, place);
    } catch (error) {
      logger.warn(
        { error: messageOf(error) },
        'profits of cut transactions are not settled now; trying again',
      );
    }
    await pause(everyMs, signal);
  }
}

/**
 * Looks at the first sweeps behind a place.
 * @returns the place behind which the next round begins
 * @throws Error of the store
 */
export async function settleProfits(
  options: SettleOptions,
  told: Set<string>,
  behind: SweepPlace = START,
): Promise<SweepPlace> {
  const { store, rpc, log, signal } = options;
  const verified = await options.verifiedSlot();
  if (verified === null) return behind;
  const unsettled = await store.unsettled(verified, behind, MOST_AT_ONCE);
  for (const { signature, slot, policies } of unsettled) {
    const found: { record: ProfitRecord; sweep: StoredSweep }[] = [];
    for (const policy of policies) {
      if (signal.aborted || told.has(`${signature} ${policy}`)) continue;
      const one = await settle(options, { signature, slot, policy, verified });
      if (one !== null) found.push(one);
    }
    const [first] = found;
    if (first === undefined) continue;
    const { index, order, blockTime } = first.sweep;
    try {
      const reading = await fetchTransaction(rpc, { signature, slot, blockTime }, order, index);
      await log.append([...found.map(({ record }) => record), reading]);
      for (const { record } of found) told.add(`${signature} ${record.policy}`);
    } catch (error) {
      // The other sweeps do not wait for this one.
      const said = { error: messageOf(error), signature };
      options.logger.warn(said, 'the profit of a cut transaction is not settled now; it is tried again');
    }
  }
  return (unsettled.length < MOST_AT_ONCE ? undefined : unsettled.at(-1)) ?? START;
}

async function settle(
  { store, startSlot, openGaps }: SettleOptions,
  {
    signature,
    slot,
    policy,
    verified,
  }: { signature: string; slot: bigint; policy: string; verified: bigint },
): Promise<{ record: ProfitRecord; sweep: StoredSweep } | null> {
  const marks = await store.marksAround(policy, slot);
  const [before, after] = [only(marks.before), only(marks.after)];
  if (before === null || after === null || after.slot > verified || before.slot + 1n < startSlot) return null;
  const between = [policy, before.slot, after.slot] as const;
  const gaps = await openGaps();
  if (gaps.some(({ fromSlot, toSlot }) => fromSlot <= after.slot && toSlot > before.slot)) return null;
  const missing = await store.missingBetween(...between);
  if (missing.some((one) => one.signature !== signature && lacks(one.missing, PROFIT))) return null;
  const sweeps = await store.sweepsBetween(...between);
  const others = sweeps.filter((one) => one.signature !== signature);
  const [sweep, ...more] = sweeps.filter((one) => one.signature === signature);
  if (sweep === undefined || more.length > 0) return null;
  const profit = profitOf({ before, after, sweep, others });
  if (profit === null) return null;
  const record: ProfitRecord = {
    kind: 'profit',
    signature: decodeBase58(signature) as Uint8Array,
    policy,
    profit,
  };
  return { record, sweep };
}

/** The nearest mark; null where there is none, or two of one slot. */
function only([nearest, next]: readonly Mark[]): Mark | null {
  return nearest === undefined || next?.slot === nearest.slot ? null : nearest;
}
