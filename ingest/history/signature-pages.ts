import { RpcError } from '../../runtime/rpc/error.ts';
import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Commitment, Rpc } from '../../runtime/rpc/rpc.ts';
import { PlaceUnknownError } from './gap.ts';

/** One step down the list of an address. */
export interface SignaturePage {
  /** Newest first; none of them was in a page before. */
  signatures: SignatureInfo[];
  /** Where the list goes on behind this page. */
  place: string | null;
  /** The node has nothing older. */
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
  signal: AbortSignal;
}

const PAGE = 1000;

/** Some nodes refuse a place that they do not know: one that lists from the newest refuses nothing else. */
async function refusedAt(place: string | null, error: unknown, ask: () => Promise<unknown>): Promise<never> {
  if (place === null || !(error instanceof RpcError) || error.kind !== 'refused') throw error;
  await ask();
  throw new PlaceUnknownError(`the node refuses ${place}, from which the list goes on: ${error.message}`);
}

/**
 * Lists an address downwards. Each page is asked for from the last signature but one, so that it must begin with the
 * last one: a node that does not know the place, which answers with nothing as if history ended there, is told from one
 * that has no more. A page that is short, as some providers' all are, is not taken for the last.
 * @throws RpcError, PlaceUnknownError
 */
export async function* signaturePages(options: PagesOptions): AsyncGenerator<SignaturePage> {
  const { rpc, address, commitment, minContextSlot, signal } = options;
  const read = { minContextSlot, ...(commitment === undefined ? {} : { commitment }) };
  let place = options.before;
  let last: string | null = null;
  while (!signal.aborted) {
    const page = await rpc
      .getSignaturesForAddress(address, place, PAGE, read)
      .catch((error) => refusedAt(place, error, () => rpc.getSignaturesForAddress(address, null, 1, read)));
    const known = last === null ? -1 : page.findIndex(({ signature }) => signature === last);
    if (place !== null && page.length === 0)
      throw new PlaceUnknownError(`the node does not know ${place}, from which the list goes on`);
    if (last !== null && known === -1)
      throw new PlaceUnknownError(`the node's list does not go on with ${last}`);
    const signatures = page.slice(known + 1);
    // Of a page that is one signature long there is no last but one: what is behind it is asked for from itself.
    if (known === 0 && page.length === 1 && last !== null && place !== last) {
      const behind = await rpc.getSignaturesForAddress(address, last, 1, read);
      if (behind.length > 0) {
        place = last;
        last = null;
        continue;
      }
    }
    place = page.at(-2)?.signature ?? place;
    last = page.at(-1)?.signature ?? null;
    yield { signatures, place, isLast: signatures.length === 0 };
    if (signatures.length === 0) return;
  }
}
