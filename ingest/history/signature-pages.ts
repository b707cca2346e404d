import { NotKeptError, NotMadeError, RpcError } from '../../runtime/rpc/error.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Commitment, ReadOptions, Rpc } from '../../runtime/rpc/rpc.ts';
import { HistoryUnavailableError, PlaceUnknownError, PrunedError } from './gap.ts';
import { placesToHaveMade } from './unlisted-stretches.ts';

/** One step down the list of an address. */
export interface SignaturePage {
  /** Newest first; none of them was in a page before. */
  signatures: SignatureInfo[];
  /** Where the list goes on behind this page. */
  place: string | null;
  /** There is nothing older, says a node that keeps what is. */
  isLast: boolean;
}

export interface PagesOptions {
  rpc: Rpc;
  address: string;
  /** A signature with an older one behind it, or null for the newest. */
  before: string | null;
  commitment?: Commitment;
  /** A node that has not come there is not asked. */
  minContextSlot: bigint;
  /** Down to where the list is read: that it ends is believed of a node alone that keeps history from there on. */
  downTo: bigint;
  /** Likewise up to where: that nothing is listed of many slots is believed of a node alone that made their blocks. */
  upTo: bigint;
  signal: AbortSignal;
}

const PAGE = 1000;

/** Where a list goes on: asked for from `place`, it must begin with `last`; `lowest` is the slot of what was listed last. */
interface From {
  place: string | null;
  last: string | null;
  lowest: bigint | null;
}

type Listed = { signatures: SignatureInfo[]; from: From } | { unknown: string };

/**
 * Lists an address downwards. Each page is asked for from the last signature but one, so that it must begin with the
 * last one: a node that does not know the place, which answers with nothing as if history ended there, or with the
 * newest, is told from one that has no more. A page that is short, as some providers' all are, is not taken for the
 * last. Nothing is taken for the end, and no place for unknown, before a node was asked that keeps all that is wanted;
 * and no page of one that jumped over blocks, where it would show nothing of them.
 * @throws RpcError, HistoryUnavailableError, PlaceUnknownError, PrunedError
 */
export async function* signaturePages(options: PagesOptions): AsyncGenerator<SignaturePage> {
  let from: From = { place: options.before, last: null, lowest: null };
  let keptFrom: bigint | null = null;
  while (!options.signal.aborted) {
    const listed = await listFrom(options, from, keptFrom);
    const goesOn = 'signatures' in listed && listed.signatures.length > 0;
    if (!goesOn && keptFrom === null) {
      keptFrom = options.downTo;
      continue;
    }
    if ('unknown' in listed) throw new PlaceUnknownError(listed.unknown);
    from = listed.from;
    yield { signatures: listed.signatures, place: from.place, isLast: !goesOn };
    if (!goesOn) return;
  }
}

async function listFrom(
  options: PagesOptions,
  { place, last, lowest }: From,
  keptFrom: bigint | null,
): Promise<Listed> {
  const ask = (before: string | null, limit: number, read: ReadOptions = {}) =>
    askFor(options, before, limit, { ...read, ...(keptFrom === null ? {} : { keptFrom }) });
  const madeAmong: ReadOptions['madeAmong'] = (listed) => {
    const isEnd = keptFrom !== null && listed.every(({ signature }) => signature === last);
    const { downTo: fromSlot, upTo: toSlot } = options;
    return placesToHaveMade(
      listed.map(({ slot }) => slot),
      { fromSlot, toSlot, above: lowest, isEnd },
    );
  };
  const given = await ask(place, PAGE, { madeAmong }).catch((error) =>
    refusalAt(place, error, () => ask(null, 1)),
  );
  if ('unknown' in given) return given;
  const page = withoutRepeats(given);
  const at = page.findIndex(({ signature }) => signature === last);
  if (place !== null && page.length === 0)
    return { unknown: `the node does not know ${place}, from which the list goes on` };
  // One that takes no heed of the place lists it again, and may end with what is known.
  const isElsewhere = at === -1 || page.slice(0, at).some(({ signature }) => signature === place);
  if (last !== null && isElsewhere) return { unknown: `the node's list does not go on with ${last}` };
  // Of a page that is one signature long there is no last but one: what is behind it is asked for from itself.
  if (last !== null && place !== last && page.length === 1 && (await ask(last, 1)).length > 0)
    return listFrom(options, { place: last, last: null, lowest }, keptFrom);
  const end = page.at(-1)?.signature ?? null;
  const deepest = page.at(-1)?.slot ?? lowest;
  return {
    // What came in front of it meanwhile is not left out.
    signatures: page.filter((_, index) => index !== at),
    from: {
      place: page.findLast(({ signature }) => signature !== end)?.signature ?? place,
      last: end,
      lowest: deepest,
    },
  };
}

async function askFor(
  { rpc, address, commitment, minContextSlot, downTo }: PagesOptions,
  before: string | null,
  limit: number,
  more: ReadOptions,
): Promise<SignatureInfo[]> {
  const read = { minContextSlot, ...(commitment === undefined ? {} : { commitment }), ...more };
  try {
    return await rpc.getSignaturesForAddress(address, before, limit, read);
  } catch (error) {
    if (error instanceof NotKeptError) throw new PrunedError(error.firstSlot, downTo);
    if (!(error instanceof NotMadeError)) throw error;
    throw new HistoryUnavailableError(`the node has no blocks about slot ${error.slot}`);
  }
}

/** Some nodes refuse a place that they do not know: one that lists from the newest refuses nothing else. */
async function refusalAt(
  place: string | null,
  error: unknown,
  ask: () => Promise<unknown>,
): Promise<{ unknown: string }> {
  if (place === null || !(error instanceof RpcError) || error.kind !== 'refused') throw error;
  await ask();
  return { unknown: `the node refuses ${place}, from which the list goes on (error ${error.code})` };
}

/** An index that was put together of two may list one twice. */
function withoutRepeats(page: readonly SignatureInfo[]): SignatureInfo[] {
  return [...new Map(page.map((info) => [`${info.slot} ${info.signature}`, info])).values()];
}
