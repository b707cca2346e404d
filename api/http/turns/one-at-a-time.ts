import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The requests of each connection, one after the other. */
export interface OneAtATime {
  /**
   * Begins a request once the answer of the one before it has left the connection. For a client that sends a thousand
   * at once and reads nothing, one answer is made and waits, not a thousand; a client that goes on sending without
   * waiting for any is cut off.
   */
  listener(answer: RequestListener): RequestListener;
  /**
   * Ends a connection that takes no more requests, behind the answers to those it has; `refuse` writes the last one.
   */
  end(socket: Duplex, refuse: () => void): void;
}

interface Asked {
  request: IncomingMessage;
  response: ServerResponse;
  begin(): void;
}

interface Line {
  /** Its requests; the first is the one that is being answered. */
  asked: Asked[];
  /** Whether no more requests are taken on it. */
  isEnding: boolean;
  /** Called once, behind the answers to all of them. */
  end: () => void;
}

/** Each request that waits is kept in memory, and the one before them may be a stream, which has no end. */
const MOST_WAITING = 32;

export function createOneAtATime(): OneAtATime {
  const lines = new WeakMap<Duplex, Line>();
  const lineOf = (socket: Duplex): Line => {
    const line = lines.get(socket) ?? { asked: [], isEnding: false, end: () => {} };
    lines.set(socket, line);
    return line;
  };
  const next = (socket: Duplex, line: Line): void => {
    line.asked.shift();
    // For a connection that is gone nothing is begun, however much waits.
    if (socket.destroyed) return;
    const [first] = line.asked;
    if (first === undefined) line.end();
    else first.begin();
  };

  return {
    listener: (answer) => (request, response) => {
      const { socket } = request;
      const line = lineOf(socket);
      if (line.isEnding) return;
      if (line.asked.length > MOST_WAITING) {
        socket.destroy();
        return;
      }
      line.asked.push({ request, response, begin: () => answer(request, response) });
      response.once('close', () => next(socket, line));
      if (line.asked.length === 1) answer(request, response);
    },
    end: (socket, refuse) => {
      const line = lineOf(socket);
      if (line.isEnding) return;
      line.isEnding = true;
      line.end = () => {
        line.end = () => {};
        refuse();
      };
      const last = line.asked.at(-1);
      if (last !== undefined && !last.request.complete) {
        // The request is incomplete, so its answer would never come: the refusal takes its place.
        line.asked.pop();
        if (last.response.headersSent) socket.destroy();
      }
      if (line.asked.length === 0 && !socket.destroyed) line.end();
    },
  };
}
