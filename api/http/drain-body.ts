import type { RequestListener } from 'node:http';

/** What a client may have under way when it is answered; the next request on the connection comes behind it. */
export const MOST_DROPPED = 256 * 1024;

/**
 * Once the answer has left, drops up to MOST_DROPPED of a body not read to its end; a client that sends more is cut
 * off.
 */
export function drainingBodies(answer: RequestListener): RequestListener {
  return (request, response) => {
    // Before Node's own listener, which would read all that comes.
    response.prependOnceListener('finish', () => {
      if (request.complete) return;
      let dropped = 0;
      request.on('data', (chunk: Buffer) => {
        dropped += chunk.length;
        if (dropped > MOST_DROPPED) request.socket.destroy();
      });
      request.resume();
    });
    answer(request, response);
  };
}
