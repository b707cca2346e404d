import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { type Encoding, preferredEncoding } from './accept-encoding.ts';
import { type Answer, lengthOf, wholeOf } from './answers.ts';

/** Answers in the form that a client takes, each made once and kept beside the bytes. */
export interface PackedAnswers {
  /** The answer as it is to be sent. @param hasIt of what the client has already only the head is sent */
  of(answer: Answer, acceptEncoding: string, hasIt: boolean): Answer | Promise<Answer>;
}

/** Smaller ones fit in a few packets, and stay as they are. */
const LEAST_BYTES = 8 * 1024;
/**
 * Up to here it is a fraction of a millisecond, and done at once: where the engine wants all cores, another thread is not
 * heard of for longer than that.
 */
const MOST_AT_HAND = 64 * 1024;
/** More at once would keep everybody waiting: the next go as they are. */
const MOST_AT_ONCE = 16;

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

export function createPackedAnswers(maxBytes: number, mostAtOnce = MOST_AT_ONCE): PackedAnswers {
  // By the bytes and not by what was asked: what says the same is packed once.
  const ready = new LRUCache<string, Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (bytes, key) => bytes.length + key.length + 200,
  });
  const underWay = new Map<string, Promise<Buffer>>();

  const pack = async (key: string, bytes: Buffer, encoding: Encoding): Promise<Buffer> => {
    try {
      const packed = await PACK[encoding](bytes);
      ready.set(key, packed);
      return packed;
    } finally {
      underWay.delete(key);
    }
  };

  return {
    of: (answer, acceptEncoding, hasIt) => {
      if (lengthOf(answer) < LEAST_BYTES) return answer;
      const encoding = preferredEncoding(acceptEncoding);
      if (encoding === null) return { ...answer, headers: { ...answer.headers, ...VARY } };
      if (hasIt) return packedHead(answer);
      const key = `${encoding} ${answer.etag}`;
      const known = ready.get(key);
      if (known !== undefined) return packedForm(answer, encoding, known);
      if (lengthOf(answer) <= MOST_AT_HAND) {
        const packed = PACK_AT_HAND[encoding](wholeOf(answer));
        ready.set(key, packed);
        return packedForm(answer, encoding, packed);
      }
      const running = underWay.get(key);
      if (running === undefined && underWay.size >= mostAtOnce)
        return { ...answer, headers: { ...answer.headers, ...VARY } };
      const flight = running ?? pack(key, wholeOf(answer), encoding);
      underWay.set(key, flight);
      return flight.then((bytes) => packedForm(answer, encoding, bytes));
    },
  };
}

/** The same tag, weak: other bytes that say the same. */
function packedHead(answer: Answer): Answer {
  return { ...answer, etag: `W/${answer.etag}`, headers: { ...answer.headers, ...VARY } };
}

function packedForm(answer: Answer, encoding: Encoding, bytes: Buffer): Answer {
  const { rest: _, ...head } = packedHead(answer);
  return { ...head, bytes, headers: { ...head.headers, 'Content-Encoding': encoding } };
}
