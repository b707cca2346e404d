import type { RequestListener } from 'node:http';

/** What a client had under way when it was answered; the next request on the connection comes behind it. */
export const MOST_DROPPED = 256 * 1024;

/** Of a body that nobody wanted to the end so much is dropped once the answer has left; whoever goes on is cut off. */
export function drainingBodies(answer: RequestListener): RequestListener {
  return (request, response) => {
    // Before Node's own listener, which would take all that comes.
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
