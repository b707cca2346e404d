import type { RequestListener } from 'node:http';

/**
 * Most bytes of a body that are dropped. A connection that is closed while more of it is under way loses the answer
 * too: many clients send all of a body before they read anything.
 */
const MOST_DROPPED = 16 * 1024 * 1024;

/**
 * Once the answer has left, drops up to MOST_DROPPED of a body not read to its end, behind which the next request on the
 * connection comes; a client that sends more is cut off.
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
