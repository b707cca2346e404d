/**
 * How often the past was filled in far behind the tip: closed gaps, and batches that came late or opened a gap anew.
 */
export interface LateArrivals {
  closedGaps: number;
  late: number;
}

/**
 * Up to where a client has the events of the chain: the first `ordinal` events of `slot`, in the chain's order, and all
 * of the slots before it. The counts tell whether something came in behind that since: how many events the last
 * WINDOW_SLOTS slots up to this one had (`recent`), how many of those were derived, and how often something was filled
 * in before those. A derived event that is taken back has at least as many in its place: `recent` alone would not tell.
 */
export interface ChainPosition extends LateArrivals {
  slot: bigint;
  ordinal: number;
  recent: number;
  derived: number;
}

/**
 * Up to which post a client has the posts, and how many posts the last WINDOW_POSTS numbers up to that one stand for: 0,
 * which is no count, where a post may still come in behind those. `made` is when that post was made, in unix
 * milliseconds: a restored dump may give its number to another. Left out before the first post, and in ids of versions
 * that did not say it.
 */
export interface PostPosition {
  id: bigint;
  recent: number;
  made?: number;
}

/** Where a client goes on: a part for each thing that its stream carries. */
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
  if (post !== undefined) {
    const { id, recent, made } = post;
    parts.push(`p${[id, recent, ...(made === undefined ? [] : [made])].join('.')}`);
  }
  return parts.join('-');
}

/** `late` and `derived`, the last two, are left out where there are none, and by versions that did not count them. */
const CHAIN = /^e(\d{1,19})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9})(?:\.(\d{1,9}))?)?$/;
const POST = /^p(\d{1,19})\.(\d{1,9})(?:\.(\d{1,15}))?$/;

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
    } else if (post !== null) {
      const [, id = '', recent, made] = post;
      position.post = {
        ...{ id: BigInt(id), recent: Number(recent) },
        ...(made === undefined ? {} : { made: Number(made) }),
      };
    } else return null;
  }
  return position;
}
