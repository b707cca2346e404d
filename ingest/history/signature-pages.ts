import { RetryableError } from '../../runtime/errors.ts';
import { NotKeptError, RpcError } from '../../runtime/rpc/error.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc/rpc.ts';
import { PlaceUnknownError, PrunedError } from './gap.ts';

/** One step down the list of an address. */
export interface SignaturePage {
  /** Newest first; none of them was in a page before. */
  signatures: SignatureInfo[];
  /** The signature from which the list goes on behind this page. */
  place: string | null;
  /** There is nothing older, according to a node that keeps history so far back. */
  isLast: boolean;
  /**
   * Set where no node keeps all that is wanted: the pages have everything from this slot on, and the next step throws.
   */
  keptFrom: bigint | null;
}

export interface PagesOptions {
  rpc: Rpc;
  address: string;
  /** A signature with an older one behind it, or null for the newest. */
  before: string | null;
  /** A node that has not come to this slot is not asked. */
  minContextSlot: bigint;
  /**
   * The slot down to which the list is read: that the list ends is believed only of a node that keeps history from
   * there on.
   */
  downTo: bigint;
  /** The highest slot that is wanted. Set by callers that take what nodes keep where none keeps all that is wanted. */
  upTo?: bigint;
  signal: AbortSignal;
}

const PAGE = 1000;
/**
 * By try: from how many slots above a node's first block on its list is taken. A node that forgets a slot with each new
 * one is given a minute.
 */
const ABOVE_FIRST = [0n, 150n];
const ASKED_AGAIN = 3;

/** Where a list goes on: asked for from `place`, it must begin with `last`. */
interface From {
  place: string | null;
  last: string | null;
}

type Listed = { signatures: SignatureInfo[]; from: From } | { unknown: string };

/**
 * Lists an address downwards. Each page is asked for from the last signature but one, so that it must begin with the
 * last one. That tells a node that has no more from one that does not know the place, and answers with nothing, as if
 * history ended there, or with the newest. A short page, as some providers' all are, is not taken for the last one. An
 * end of the list, or an unknown place, is believed only after a node was asked that keeps all that is wanted.
 * @throws RpcError, PlaceUnknownError, PrunedError
 */
export async function* signaturePages(options: PagesOptions): AsyncGenerator<SignaturePage> {
  const { upTo = -1n } = options;
  let from: From = { place: options.before, last: null };
  let keptFrom: bigint | null = null;
  let pruned: PrunedError | null = null;
  let tries = 0;
  while (!options.signal.aborted) {
    let listed: Listed;
    try {
      listed = await listFrom(options, from, keptFrom);
      // The node may have forgotten the rest while it listed, or another node behind its address may have answered.
      for (let asked = 0; asked < ASKED_AGAIN && pruned !== null && !hasMore(listed); asked += 1)
        listed = await listFrom(options, from, keptFrom);
    } catch (error) {
      if (!(error instanceof PrunedError)) throw error;
      pruned ??= error;
      const above = ABOVE_FIRST[tries];
      if (above === undefined || error.firstSlot + above > upTo) throw pruned;
      keptFrom = error.firstSlot + above;
      tries += 1;
      continue;
    }
    const goesOn = hasMore(listed);
    if (!goesOn && keptFrom === null) {
      keptFrom = options.downTo;
      continue;
    }
    if ('unknown' in listed) throw pruned ?? new PlaceUnknownError(listed.unknown);
    from = listed.from;
    const { signatures } = listed;
    const isEnd = !goesOn;
    const ends = { isLast: isEnd && pruned === null, keptFrom: isEnd && pruned !== null ? keptFrom : null };
    yield { signatures, place: from.place, ...ends };
    if (isEnd && pruned !== null) throw pruned;
    if (isEnd) return;
  }
}

const hasMore = (listed: Listed): boolean => 'signatures' in listed && listed.signatures.length > 0;

async function listFrom(
  options: PagesOptions,
  { place, last }: From,
  keptFrom: bigint | null,
): Promise<Listed> {
  const ask = (before: string | null, limit: number) => askFor(options, keptFrom, before, limit);
  const given = await ask(place, PAGE).catch((error) => refusalAt(place, error, () => ask(null, 1)));
  if ('unknown' in given) return given;
  const page = withoutRepeats(given);
  const at = page.findIndex(({ signature }) => signature === last);
  if (place !== null && page.length === 0)
    return { unknown: `the node does not know ${place}, from which the list goes on` };
  // A node that ignores the place lists the place again, and may end with what is known.
  const isElsewhere = at === -1 || page.slice(0, at).some(({ signature }) => signature === place);
  if (last !== null && isElsewhere) return { unknown: `the node's list does not go on with ${last}` };
  // A page of one signature has no last but one: the next page is asked for from that signature itself.
  if (last !== null && place !== last && page.length === 1 && (await ask(last, 1)).length > 0)
    return listFrom(options, { place: last, last: null }, keptFrom);
  const end = page.at(-1)?.signature ?? null;
  return {
    // Signatures that came up in front of `last` meanwhile are not left out.
    signatures: page.filter((_, index) => index !== at),
    from: { place: page.findLast(({ signature }) => signature !== end)?.signature ?? place, last: end },
  };
}

async function askFor(
  { rpc, address, minContextSlot }: PagesOptions,
  keptFrom: bigint | null,
  before: string | null,
  limit: number,
): Promise<SignatureInfo[]> {
  const read = { minContextSlot, ...(keptFrom === null ? {} : { keptFrom }) };
  try {
    return await rpc.getSignaturesForAddress(address, before, limit, read);
  } catch (error) {
    if (!(error instanceof NotKeptError) || keptFrom === null) throw error;
    throw new PrunedError(error.firstSlot, keptFrom);
  }
}

/** Agave's "long-term storage unreachable": the node's storage of old history is away for a while. */
const STORAGE_AWAY = -32019;

/**
 * Some nodes refuse a place that they do not know. If such a node lists from the newest signature, it was the place that
 * it refused, unless it says that it could not look it up.
 */
async function refusalAt(
  place: string | null,
  error: unknown,
  ask: () => Promise<unknown>,
): Promise<{ unknown: string }> {
  if (place === null || !(error instanceof RpcError) || error.kind !== 'refused') throw error;
  await ask();
  const { code, message, retryOn } = error;
  if (code !== STORAGE_AWAY)
    return { unknown: `the node refuses ${place}, from which the list goes on (error ${code})` };
  const cause = new RetryableError(
    `does not reach its storage of what is older than ${place}, error ${code}`,
  );
  throw new RpcError('refused', `${message} (${cause.message})`, { code, retryOn, cause });
}

/** An index that was put together of two may list a signature twice. */
function withoutRepeats(page: readonly SignatureInfo[]): SignatureInfo[] {
  return [...new Map(page.map((info) => [`${info.slot} ${info.signature}`, info])).values()];
}
