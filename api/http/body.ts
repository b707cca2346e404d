import type { IncomingMessage } from 'node:http';

/** The client went away before the end of its request: nobody is there to be answered. */
export class ClientGoneError extends Error {
  override name = 'ClientGoneError';
}

export const BODY_MAX = 16 * 1024;

/** In the place of a body over BODY_MAX, for routes that check who sends it first. */
export const TOO_LARGE = Symbol('a body that is too large');
export const WHY_TOO_LARGE = `the body is over ${BODY_MAX} bytes`;

/**
 * The body of a request, or null where it is over `max` bytes: the rest is not even taken off the connection until the
 * answer has left.
 * @throws ClientGoneError where the client goes away before the end.
 */
export function readBody(request: IncomingMessage, max: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    if (Number(request.headers['content-length'] ?? 0) > max) {
      resolve(null);
      return;
    }
    const take = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= max) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      // Otherwise whatever drops the rest would be paused with every chunk of it.
      request.off('data', take);
      request.pause();
      resolve(null);
    };
    request.on('data', take);
    request.on('end', () => resolve(Buffer.concat(chunks)));
    const gone = () => reject(new ClientGoneError('the client went away before the end of its body'));
    request.on('error', gone);
    request.on('close', gone);
  });
}

/** The JSON value of a body; undefined where it is none, or not UTF-8. */
export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
