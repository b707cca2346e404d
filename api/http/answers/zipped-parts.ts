import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib';
import { ownBytes } from '../../../runtime/own-bytes.ts';
import { combineCrc32 } from './crc32.ts';

/** A part of a gzip stream: blocks that end on a byte boundary and refer to nothing before them. */
export interface ZippedPart {
  bytes: Buffer;
  /** Bytes before they were zipped. */
  length: number;
  crc: number;
}

const deflate = promisify(deflateRaw);

/** The quickest: JSON comes to an eighth or less, what more time saves of it is a few percent. */
const OPTIONS = { level: 1, finishFlush: constants.Z_SYNC_FLUSH };

/** The head of a gzip stream: deflate, no name, no time, system unknown. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** A last block of deflate with nothing in it. */
const LAST_BLOCK = [0x03, 0x00];

const partOf = (plain: Buffer, bytes: Buffer): ZippedPart => ({
  ...{ bytes: ownBytes(bytes), length: plain.length, crc: crc32(plain) },
});

export const zipPart = async (plain: Buffer): Promise<ZippedPart> =>
  partOf(plain, await deflate(plain, OPTIONS));

export const zipPartAtHand = (plain: Buffer): ZippedPart => partOf(plain, deflateRawSync(plain, OPTIONS));

/** One gzip stream of all of them, in pieces. */
export function zippedWhole(parts: readonly ZippedPart[]): [head: Buffer, ...rest: Buffer[]] {
  let crc = 0;
  let length = 0;
  for (const part of parts) {
    crc = combineCrc32(crc, part.crc, part.length);
    length += part.length;
  }
  const end = Buffer.alloc(LAST_BLOCK.length + 8);
  end.set(LAST_BLOCK);
  end.writeUInt32LE(crc, LAST_BLOCK.length);
  end.writeUInt32LE(length % 2 ** 32, LAST_BLOCK.length + 4);
  return [HEAD, ...parts.map(({ bytes }) => bytes), end];
}
