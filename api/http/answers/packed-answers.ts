import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { ownBytes } from '../../../runtime/own-bytes.ts';
import { ENCODINGS, type Encoding, preferredEncoding } from './accept-encoding.ts';
import { type Answer, type Form, lengthOf, wholeOf } from './forms.ts';
import { createZippedPieces } from './zipped-pieces.ts';

/** Answers in the form that a client takes, each made once and kept beside the bytes. */
export interface PackedAnswers {
  /** The answer as it is to be sent. @param isKnown whether the client has it already: then only its head is sent */
  formFor(answer: Answer, acceptEncoding: string, isKnown: boolean): Form | Promise<Form>;
}

/** Smaller ones fit in a few packets, and stay as they are. */
const LEAST_BYTES = 8 * 1024;
/**
 * Up to here packing takes a fraction of a millisecond, and is done on this thread: where ClickHouse wants all cores,
 * another thread takes longer than that to be heard of.
 */
const MOST_AT_HAND = 64 * 1024;
/** Answers packed side by side: more would keep everybody waiting, so the next are sent as they are. */
const MOST_AT_ONCE = 16;

/**
 * Answers in pieces are zipped piece by piece, and only pieces that differ are zipped anew. A stream of `br` is one
 * from its begin to its end: 42 MB would be put together and packed again with every slot.
 */
const OF_PIECES: readonly Encoding[] = ['gzip'];

const VARY = { Vary: 'Accept-Encoding' };

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** The quickest of each: JSON comes to an eighth, what more time saves of it is a few percent. */
const ZIPPED = { level: 1 };
const brotlied = ({ length }: Buffer): BrotliOptions => ({
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 1,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: length,
  },
});

const PACK: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => brotli(bytes, brotlied(bytes)),
  gzip: (bytes) => zip(bytes, ZIPPED),
};

const PACK_AT_HAND: Record<Encoding, (bytes: Buffer) => Buffer> = {
  br: (bytes) => brotliCompressSync(bytes, brotlied(bytes)),
  gzip: (bytes) => gzipSync(bytes, ZIPPED),
};

/** @param maxBytes of answers packed whole, and as much again of the pieces of others */
export function createPackedAnswers(maxBytes: number, mostAtOnce = MOST_AT_ONCE): PackedAnswers {
  // Keyed by the tag of the bytes and not by the request: equal answers are packed once.
  const ready = new LRUCache<string, Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (bytes, key) => bytes.length + key.length + 200,
  });
  const underWay = new Map<string, Promise<Buffer>>();
  const zipped = createZippedPieces({ maxBytes, mostAtOnce, mostAtHand: MOST_AT_HAND });

  const pack = async (key: string, bytes: Buffer, encoding: Encoding): Promise<Buffer> => {
    try {
      const packed = ownBytes(await PACK[encoding](bytes));
      ready.set(key, packed);
      return packed;
    } finally {
      underWay.delete(key);
    }
  };

  return {
    formFor: (answer, acceptEncoding, isKnown) => {
      const length = lengthOf(answer);
      if (length < LEAST_BYTES) return answer;
      const pieces = length > MOST_AT_HAND ? answer.rest : undefined;
      const encoding = preferredEncoding(acceptEncoding, pieces === undefined ? ENCODINGS : OF_PIECES);
      if (encoding === null) return asItIs(answer);
      if (isKnown) return packedHead(answer);
      if (pieces !== undefined) {
        const whole = zipped.zip([{ bytes: answer.bytes, tag: answer.etag }, ...pieces]);
        if (whole === null) return asItIs(answer);
        return whole instanceof Promise
          ? whole.then((parts) => packedForm(answer, encoding, parts))
          : packedForm(answer, encoding, whole);
      }
      const key = `${encoding} ${answer.etag}`;
      const known = ready.get(key);
      if (known !== undefined) return packedForm(answer, encoding, [known]);
      if (length <= MOST_AT_HAND) {
        const packed = ownBytes(PACK_AT_HAND[encoding](wholeOf(answer)));
        ready.set(key, packed);
        return packedForm(answer, encoding, [packed]);
      }
      const running = underWay.get(key);
      if (running === undefined && underWay.size >= mostAtOnce) return asItIs(answer);
      const flight = running ?? pack(key, wholeOf(answer), encoding);
      underWay.set(key, flight);
      return flight.then((bytes) => packedForm(answer, encoding, [bytes]));
    },
  };
}

/** With Vary, since other clients get it packed. */
function asItIs(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, ...VARY } };
}

/** With the same tag, but weak: the bytes are others that say the same. */
function packedHead(answer: Answer): Answer {
  return { ...answer, etag: `W/${answer.etag}`, headers: { ...answer.headers, ...VARY } };
}

function packedForm(
  answer: Answer,
  encoding: Encoding,
  [bytes, ...rest]: readonly [Buffer, ...Buffer[]],
): Form {
  const { rest: _, ...head } = packedHead(answer);
  const form = { ...head, bytes, headers: { ...head.headers, 'Content-Encoding': encoding } };
  return rest.length === 0 ? form : { ...form, rest: rest.map((piece) => ({ bytes: piece })) };
}
