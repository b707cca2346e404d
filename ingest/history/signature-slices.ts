import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc.ts';
import { type Gap, HistoryUnavailableError } from './gap.ts';

/** Some whole slots of history, newest first. */
export interface HistorySlice {
  /** Of transactions that succeeded; a failed one has no events. */
  signatures: SignatureInfo[];
  /** Place of each in its slot, counted from the slot's oldest. */
  orders: number[];
  /** Everything of the gap from this slot on is in this slice and those before it. */
  downTo: bigint;
  /** Block time of that slot. */
  time: number | null;
}

export interface SlicesOptions {
  rpc: Rpc;
  programId: string;
  signal: AbortSignal;
}

const PAGE = 1000;
/** Signatures in a slice, about: progress is kept this often. */
const SLICE = 200;

/**
 * Lists the transactions of an interval, newest first, in slices of whole slots.
 * @throws RpcError, HistoryUnavailableError where the node cannot list all of them.
 */
export async function* historySlices(gap: Gap, options: SlicesOptions): AsyncGenerator<HistorySlice> {
  const { rpc, programId, signal } = options;
  const tip = await rpc.getSlot();
  if (tip < gap.toSlot) throw new HistoryUnavailableError(`the node is at slot ${tip}, before ${gap.toSlot}`);
  let before: string | null = null;
  /** Signatures of the lowest slot seen so far: the next page may hold more of it. */
  let held: SignatureInfo[] = [];
  while (!signal.aborted) {
    const page = await rpc.getSignaturesForAddress(programId, before, PAGE);
    const lowest = page.at(-1)?.slot ?? held.at(-1)?.slot;
    const past = lowest !== undefined && lowest < gap.fromSlot;
    const ended = past || page.length < PAGE;
    if (ended && !past) await listEnds(gap, { ...options, before, length: page.length });
    const all = [...held, ...page];
    held = ended ? [] : all.filter(({ slot }) => slot === lowest);
    yield* sliced(all.slice(0, all.length - held.length), gap);
    if (ended) return;
    before = page.at(-1)?.signature ?? null;
  }
}

/**
 * A list that is shorter than a page proves that history ends there only where the node has history that far, and
 * says the same again: a node that does not know `before` answers with an empty list too.
 */
async function listEnds(
  gap: Gap,
  { rpc, programId, before, length }: SlicesOptions & { before: string | null; length: number },
): Promise<void> {
  const first = await rpc.getFirstAvailableBlock();
  if (first > gap.fromSlot && first > 1n) {
    throw new HistoryUnavailableError(
      `the node's first block is ${first}, the gap begins at ${gap.fromSlot}`,
    );
  }
  if (before === null) return;
  if ((await rpc.getTransaction(before)) === null) {
    throw new HistoryUnavailableError(`the node does not know ${before}, from which the list goes on`);
  }
  const again = await rpc.getSignaturesForAddress(programId, before, PAGE);
  if (again.length !== length) throw new HistoryUnavailableError('the node lists history in two ways');
}

function* sliced(newestFirst: readonly SignatureInfo[], gap: Gap): Generator<HistorySlice> {
  const inside = newestFirst.filter(({ slot }) => slot >= gap.fromSlot && slot <= gap.toSlot);
  for (let start = 0; start < inside.length; ) {
    let end = Math.min(start + SLICE, inside.length);
    while (end < inside.length && inside[end]?.slot === inside[end - 1]?.slot) end += 1;
    const part = inside.slice(start, end);
    const orders = ordersOf(part);
    const kept = part
      .map((info, at) => ({ info, order: orders[at] as number }))
      .filter(({ info }) => !info.failed);
    const oldest = part.at(-1) as SignatureInfo;
    yield {
      signatures: kept.map(({ info }) => info),
      orders: kept.map(({ order }) => order),
      downTo: oldest.slot,
      time: oldest.blockTime,
    };
    start = end;
  }
}

function ordersOf(newestFirst: readonly SignatureInfo[]): number[] {
  const orders: number[] = [];
  for (let at = newestFirst.length - 1; at >= 0; at -= 1) {
    const sameSlot = newestFirst[at + 1]?.slot === newestFirst[at]?.slot;
    orders[at] = sameSlot ? (orders[at + 1] as number) + 1 : 0;
  }
  return orders;
}
