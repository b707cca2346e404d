import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Line {
  last: ServerResponse;
  /** Behind the one that is answered. */
  waiting: number;
}

/** Each that waits is kept, and the one before them may be a stream that has no end. */
const MOST_WAITING = 32;

/**
 * Begins a request once the answer of the one before it has left the connection. Whoever sends a thousand at once and
 * reads nothing has one answer made that waits for him, not a thousand; and whoever goes on sending without waiting for
 * any is cut off.
 */
export function oneAtATime(answer: RequestListener): RequestListener {
  const lines = new WeakMap<Socket, Line>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket);
    if (line === undefined || line.last.writableFinished) {
      lines.set(socket, { last: response, waiting: 0 });
      answer(request, response);
      return;
    }
    if (line.waiting >= MOST_WAITING) {
      socket.destroy();
      return;
    }
    const before = line.last;
    line.last = response;
    line.waiting += 1;
    before.once('close', () => {
      line.waiting -= 1;
      // Of a connection that is gone nothing is begun, however much waits.
      if (!socket.destroyed) answer(request, response);
    });
  };
}
