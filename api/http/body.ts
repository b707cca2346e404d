import type { IncomingMessage } from 'node:http';

export const BODY_MAX = 16 * 1024;

/**
 * The body of a request, or null where it is over `max` bytes: what is beyond is dropped, not held.
 * @throws Error where the client goes away before the end.
 */
export function readBody(request: IncomingMessage, max: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    if (Number(request.headers['content-length'] ?? 0) > max) {
      request.resume();
      resolve(null);
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= max) chunks.push(chunk);
      else {
        chunks.length = 0;
        resolve(null);
      }
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', reject);
    request.on('close', () => reject(new Error('the client went away before the end of its body')));
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
