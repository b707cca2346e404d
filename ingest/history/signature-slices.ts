import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { type Gap, PlaceUnknownError } from './gap.ts';
import { GOES_ON, proveTop, type Standing, settledSlot } from './prove-top.ts';
import { signaturePages } from './signature-pages.ts';

/** Some whole slots of history, newest first. */
export interface HistorySlice {
  /**
   * Of all transactions, failed ones too: a transaction says itself whether it failed, and a list may mark the wrong
   * one.
   */
  signatures: SignatureInfo[];
  /** Place of each in its slot, counted from the slot's oldest. */
  orders: number[];
  /** Everything of the gap from this slot on is in this slice and those before it. */
  downTo: bigint;
  /** Block time of that slot. */
  time: number | null;
  /**
   * Signatures of the list: one above this slice (null: none is known), and one from which the list goes on below it.
   */
  above: string | null;
  place: string | null;
}

export interface SlicesOptions {
  rpc: Rpc;
  programId: string;
  signal: AbortSignal;
  /** The program has no transaction before this slot. */
  startSlot?: bigint;
  /** For how long the chain has been at the gap's end without going on far; without it, it goes on. */
  standing?: Standing;
}

/** Signatures in a slice, about: progress is kept this often. */
const SLICE = 200;
/** Slots that are asked for a block time: one without a block has none, and a later one's stands for it. */
const TIMES_ASKED = 10n;

/**
 * Lists the transactions of an interval, newest first, in slices of whole slots. Its top is listed twice.
 * @throws RpcError, HistoryUnavailableError where the node cannot list all of them.
 */
export async function* historySlices(gap: Gap, options: SlicesOptions): AsyncGenerator<HistorySlice> {
  const { rpc, programId, signal, startSlot = 0n, standing = GOES_ON } = options;
  const [fromSlot] = [gap.fromSlot, startSlot].sort((a, b) => Number(b - a)) as [bigint, bigint];
  if (gap.toSlot < fromSlot) return;
  const inside = ({ slot }: SignatureInfo) => slot >= fromSlot && slot <= gap.toSlot;
  const minContextSlot = await settledSlot(gap, rpc, standing);
  const { before = null, signature = null } = gap;
  /** Signatures of the lowest slot seen so far: the next page may hold more of it. */
  let held: SignatureInfo[] = [];
  /** A signature above all that is in no slice yet, and one from which the list goes on with that. */
  let above = before;
  let place = before;
  /** A block time no earlier than that of the next slot below the slices. */
  let time = gap.toTime;
  /** Everything from this slot up is in the slices. */
  let downTo = gap.toSlot + 1n;
  // The top of a gap that goes on from a place was proved before. A gap kept by one transaction is tried again and
  // again and is short: it is listed twice each time.
  let proved = before !== null && signature === null;
  for await (const page of signaturePages({
    ...{ rpc, address: programId, before, minContextSlot, signal },
    ...{ downTo: fromSlot, upTo: gap.toSlot },
  })) {
    const { keptFrom } = page;
    const listed = page.signatures.filter(inside);
    const lowest = page.signatures.at(-1)?.slot;
    const ended = page.isLast || keptFrom !== null || (lowest !== undefined && lowest < fromSlot);
    if (!proved && (listed.length > 0 || ended)) {
      const top = { ...gap, fromSlot: keptFrom ?? fromSlot };
      above = (await proveTop(top, listed, ended, { ...options, minContextSlot })) ?? above;
      proved = true;
    }
    const all = [...held, ...listed].filter(({ slot }) => slot >= (keptFrom ?? 0n));
    // The node may mistake the place, or have jumped over the slot: the gap is read from the newest on later, where two
    // lists decide.
    if (ended && before !== null && signature !== null && !all.some((one) => one.signature === signature))
      throw new PlaceUnknownError(`the list of signatures older than ${before} lacks ${signature}`);
    held = ended ? [] : all.filter(({ slot }) => slot === lowest);
    const whole = all.slice(0, all.length - held.length);
    for (const slice of sliced(whole, above)) {
      ({ place, downTo } = slice);
      time = slice.time ?? time;
      yield slice;
    }
    above = whole.at(-1)?.signature ?? above;
    // No node keeps what lies below: the next step of the pages says so.
    if (keptFrom !== null && keptFrom < downTo)
      yield await emptyDownTo(keptFrom, { above, place, time }, rpc);
    else if (ended && keptFrom === null) return;
  }
}

/** A slice without transactions, down to this slot. */
async function emptyDownTo(
  downTo: bigint,
  above: Pick<HistorySlice, 'above' | 'place' | 'time'>,
  rpc: Rpc,
): Promise<HistorySlice> {
  let told: number | null = null;
  for (let slot = downTo; told === null && slot < downTo + TIMES_ASKED; slot += 1n)
    told = await rpc.getBlockTime(slot).catch(() => null);
  return { ...above, signatures: [], orders: [], downTo, time: told ?? above.time };
}

/** @param before a place that is above all of them */
function* sliced(inside: readonly SignatureInfo[], before: string | null): Generator<HistorySlice> {
  for (let start = 0; start < inside.length; ) {
    let end = Math.min(start + SLICE, inside.length);
    while (end < inside.length && inside[end]?.slot === inside[end - 1]?.slot) end += 1;
    const part = inside.slice(start, end);
    const oldest = part.at(-1) as SignatureInfo;
    yield {
      signatures: part,
      orders: ordersOf(part),
      downTo: oldest.slot,
      time: oldest.blockTime,
      above: inside[start - 1]?.signature ?? before,
      // The last but one has an older one behind it.
      place: inside[end - 2]?.signature ?? before,
    };
    start = end;
  }
}

/**
 * Place of each in its slot, counted from the slot's oldest. @param newestFirst whole slots: all transactions of each
 */
export function ordersOf(newestFirst: readonly SignatureInfo[]): number[] {
  const orders: number[] = [];
  for (let at = newestFirst.length - 1; at >= 0; at -= 1) {
    const sameSlot = newestFirst[at + 1]?.slot === newestFirst[at]?.slot;
    orders[at] = sameSlot ? (orders[at + 1] as number) + 1 : 0;
  }
  return orders;
}
