import { inParallel } from '../../../runtime/parallel.ts';
import type { GapRecord, LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { type Gap, HistoryUnavailableError } from '../../history/gap.ts';
import { oneGapPerSlot, readHistory, type UnreadGap } from '../../history/read-history.ts';
import type { Unread } from './cursor.ts';
import type { BackfillStore } from './stored.ts';
import type { BackfillTransactionsOptions } from './transactions.ts';

export interface Closing {
  /** Transactions that could not be read and that the index does not have: each keeps a gap of its slot. */
  unread: readonly Unread[];
  /** Gaps that are closed by what was read, and the parts that PROGRAM_START_SLOT had left out of others. */
  closed: Gap[];
  /** Gaps that stay open, without those of slots of which a transaction could not be read. */
  left: Gap[];
}

interface CloseOptions extends Omit<BackfillTransactionsOptions, 'store'> {
  store: BackfillStore;
}

const READ_AT_ONCE = 4;

/**
 * Closes the open gaps that begin in what was read. Each closing says how far was read: a gap that was opened again
 * meanwhile and reaches further stays open. It says too which transaction the gap had named: a gap that names another
 * one by then stays open. Gaps that this run itself had opened in the log are included, even if the store lacks them
 * yet.
 * @param refused transactions that could not be read
 * @throws RpcError
 */
export async function closeGaps(
  options: CloseOptions,
  topSlot: bigint,
  refused: readonly Unread[],
): Promise<Closing> {
  const { store, log, fromSlot, signal } = options;
  // Asked again: ingest may have read them since, or streamed ones were not applied yet.
  const unread = await store.lacking(refused);
  const lacks = new Set(unread.map(({ fromSlot: slot }) => slot));
  const isWhole = ({ fromSlot: slot }: Gap) => !lacks.has(slot);
  const own = bySlot(oneGapPerSlot(refused.map(ofOneSlot)).filter(isWhole));
  const shown = bySlot((await store.openGaps()).filter(isWhole));
  const open = [...new Map<bigint, Gap>([...own, ...shown]).values()];
  const inside = open.filter((gap) => gap.fromSlot >= fromSlot && gap.toSlot <= topSlot);
  // A closing whose last slot is its first closes a gap however far it reaches, which only ingest may say: a gap that
  // begins at `topSlot` is left alone.
  const closable = new Set(inside.filter((gap) => gap.fromSlot < topSlot));
  const told = new Set<Gap>();
  // The slot of a gap that names a transaction is listed anew: the list that was read may lack what another node had
  // listed, and that the index has the named one proves nothing of others in the slot.
  await inParallel([...closable], READ_AT_ONCE, async (gap) => {
    const named = isNamed(gap) ? gap : own.get(gap.fromSlot);
    const missing = named === undefined ? [] : await missingOf(named, options);
    if (missing.length === 0) return;
    closable.delete(gap);
    told.add(gap);
    unread.push(...missing);
  });
  signal.throwIfAborted();
  const closed = [...closable];
  const { clipped } = await store.historyBegin();
  // The parts of gaps that PROGRAM_START_SLOT had left out are read now: unless the log is told so, ingest would open
  // these gaps again for them.
  const isLacking = ({ fromSlot: slot }: { fromSlot: bigint }) => unread.some((one) => one.fromSlot === slot);
  const whole = clipped
    .filter((gap) => gap.fromSlot >= fromSlot && gap.firstSlot <= topSlot && !isLacking(gap))
    .map((gap): Gap => ({ fromSlot: gap.fromSlot, toSlot: gap.firstSlot - 1n, toTime: null }));
  const ends = closed.flatMap((gap) => closings(gap, own.get(gap.fromSlot), topSlot));
  await log.append([...ends, ...whole.flatMap((gap) => closings(gap, undefined, topSlot))]);
  const left = open.filter((gap) => !closable.has(gap) && !told.has(gap));
  return { unread, closed: [...bySlot([...whole, ...closed]).values()].sort(byFirstSlot), left };
}

const isNamed = (gap: Gap): gap is UnreadGap => gap.signature !== undefined;
const bySlot = <G extends Gap>(gaps: readonly G[]) => new Map(gaps.map((gap) => [gap.fromSlot, gap]));
const byFirstSlot = (one: Gap, other: Gap) => Number(one.fromSlot - other.fromSlot);
const ofOneSlot = (one: Unread): UnreadGap => ({ ...one, toSlot: one.fromSlot, toTime: null });

/** The closings of a gap, one for each transaction that it may name in the log by now: the store may be behind. */
function closings({ fromSlot, signature }: Gap, own: UnreadGap | undefined, topSlot: bigint): GapRecord[] {
  const closed = { kind: 'gap', fromSlot, toSlot: topSlot, toTime: null, closed: true } as const;
  const names = new Set([signature, own?.signature].filter((name) => name !== undefined));
  return names.size === 0
    ? [closed]
    : [...names].map((name) => ({ ...closed, obstacle: { type: 'unread', signature: name } }));
}

/**
 * Reads the transactions of a gap's slot into the log, with a list from just above it, as ingest does. To find out that
 * no list has the named transaction is left to ingest.
 * @returns the transactions that neither the log nor the index has then
 */
async function missingOf(gap: UnreadGap, options: CloseOptions): Promise<Unread[]> {
  const { log, store } = options;
  const unread: Unread[] = [];
  let isRead = false;
  const append = async (records: readonly LogRecord[]) => {
    await log.append(records);
    isRead ||= records.some(
      (record) => record.kind === 'transaction' && encodeBase58(record.signature) === gap.signature,
    );
  };
  try {
    await readHistory(gap, { ...options, log: { ...log, append } }, async (step) => {
      unread.push(...step.unread);
    });
  } catch (error) {
    if (!(error instanceof HistoryUnavailableError)) throw error;
    return [gap];
  }
  return isRead || (await store.lacking([gap])).length === 0 ? store.lacking(unread) : [gap];
}
