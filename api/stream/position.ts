/** How often the past was filled in far behind: gaps of history that are closed, and batches that came late or opened one anew. */
export interface FilledIn {
  closedGaps: number;
  late: number;
}

/**
 * Up to where a client has the events of the chain: the first `ordinal` events of `slot`, in the chain's order, and all
 * of the slots before it. The counts tell whether something came in behind that since: how many events the last
 * WINDOW_SLOTS slots up to this one had, how many of those were derived, and how often something was filled in before
 * those. A derived one that is taken back has at least as many in its place: the first count alone would not tell.
 */
export interface ChainPosition extends FilledIn {
  slot: bigint;
  ordinal: number;
  recent: number;
  derived: number;
}

/** Up to which post a client has them, and how many the last WINDOW_POSTS numbers up to it stand for. */
export interface PostPosition {
  id: bigint;
  recent: number;
}

/** Where a client goes on: what its stream carries, a part each. */
export interface Position {
  chain?: ChainPosition;
  post?: PostPosition;
}

export const WINDOW_POSTS = 100n;

export function positionText({ chain, post }: Position): string {
  const parts: string[] = [];
  if (chain !== undefined) {
    const { slot, ordinal, recent, closedGaps, late, derived } = chain;
    const rare = derived > 0 ? [late, derived] : late > 0 ? [late] : [];
    parts.push(`e${[slot, ordinal, recent, closedGaps, ...rare].join('.')}`);
  }
  if (post !== undefined) parts.push(`p${post.id}.${post.recent}`);
  return parts.join('-');
}

/** One without the last two was given where there was nothing of the kind, or by a version that did not count that. */
const CHAIN = /^e(\d{1,19})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?$/;
const POST = /^p(\d{1,19})\.(\d{1,9})$/;

/** Reads an id that a client sends back; null where it is none of ours. */
export function readPosition(text: string): Position | null {
  const position: Position = {};
  for (const part of text.split('-')) {
    const chain = CHAIN.exec(part);
    const post = POST.exec(part);
    if (chain !== null) {
      const [, slot = '', ordinal, recent, closedGaps, late = 0, derived = 0] = chain;
      position.chain = {
        slot: BigInt(slot),
        ordinal: Number(ordinal),
        recent: Number(recent),
        closedGaps: Number(closedGaps),
        late: Number(late),
        derived: Number(derived),
      };
    } else if (post !== null) position.post = { id: BigInt(post[1] as string), recent: Number(post[2]) };
    else return null;
  }
  return position;
}
