import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { MalformedError } from '../../../schemas/malformed.ts';

/** The codings that can be unpacked. A store that keeps its objects packed sends them so, whatever it is asked for. */
const CODINGS = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * The document in a body that came under this coding; what cannot be unpacked is taken as it came.
 * @throws MalformedError where it unpacks to more than `maxBytes`
 */
export async function unpacked(
  bytes: Uint8Array,
  coding: string | undefined,
  what: string,
  maxBytes: number,
): Promise<Uint8Array> {
  const name = (coding ?? '').trim().toLowerCase();
  if (!Object.hasOwn(CODINGS, name)) return bytes;
  try {
    return await CODINGS[name as keyof typeof CODINGS](bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new MalformedError(what, `over ${maxBytes} bytes`);
    // The body may only be called so; one that is cut cannot be read either way.
    return bytes;
  }
}
