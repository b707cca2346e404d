import { LRUCache } from 'lru-cache';
import type { TaggedBytes } from './tagged-bytes.ts';
import { type ZippedPart, zipPart, zipPartAtHand, zippedWhole } from './zipped-parts.ts';

/** Answers in pieces, each as one gzip stream; every piece is zipped once and kept. */
export interface ZippedPieces {
  /** Null where so many pieces are being zipped that this answer is to be sent as it is. */
  zip(pieces: readonly TaggedBytes[]): Zipped | Promise<Zipped> | null;
}

type Zipped = ReturnType<typeof zippedWhole>;

/** Smaller pieces are zipped on this thread, before another would have heard of them. */
const SMALL_BYTES = 1024;

export interface ZippedPiecesOptions {
  maxBytes: number;
  /** Bytes of an answer's pieces that are not zipped yet: up to here they are zipped on this thread, at once. */
  mostAtHand: number;
  /** Pieces zipped side by side; those of one answer are zipped one after the other. */
  mostAtOnce: number;
}

export function createZippedPieces({ maxBytes, mostAtHand, mostAtOnce }: ZippedPiecesOptions): ZippedPieces {
  const ready = new LRUCache<string, ZippedPart>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, tag) => bytes.length + tag.length + 200,
  });
  const underWay = new Map<string, Promise<ZippedPart>>();

  const zipAtHand = ({ bytes, tag }: TaggedBytes): ZippedPart => {
    const part = zipPartAtHand(bytes);
    ready.set(tag, part);
    return part;
  };
  const zipPiece = async ({ bytes, tag }: TaggedBytes): Promise<ZippedPart> => {
    try {
      const part = await zipPart(bytes);
      ready.set(tag, part);
      return part;
    } finally {
      underWay.delete(tag);
    }
  };
  const shared = (piece: TaggedBytes): Promise<ZippedPart> => {
    const flight = underWay.get(piece.tag) ?? zipPiece(piece);
    underWay.set(piece.tag, flight);
    return flight;
  };
  const inTurn = async (pieces: readonly TaggedBytes[]): Promise<Zipped> => {
    const parts: ZippedPart[] = [];
    for (const piece of pieces) {
      const known = ready.get(piece.tag);
      parts.push(known ?? (piece.bytes.length < SMALL_BYTES ? zipAtHand(piece) : await shared(piece)));
    }
    return zippedWhole(parts);
  };

  return {
    zip: (pieces) => {
      // Looked up once: to keep one piece may drop another.
      const known = pieces.map(({ tag }) => ready.get(tag));
      const lacking = pieces.filter((_, at) => known[at] === undefined);
      const bytes = lacking.reduce((sum, piece) => sum + piece.bytes.length, 0);
      if (bytes <= mostAtHand) return zippedWhole(pieces.map((piece, at) => known[at] ?? zipAtHand(piece)));
      const isNew = lacking.every(({ tag }) => !underWay.has(tag));
      return isNew && underWay.size >= mostAtOnce ? null : inTurn(pieces);
    },
  };
}
