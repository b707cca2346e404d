import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Begins a request once the answer of the one before it has left the connection. Whoever sends a thousand at once and
 * reads nothing has one answer made that waits for him, not a thousand.
 */
export function oneAtATime(answer: RequestListener): RequestListener {
  const last = new WeakMap<Socket, ServerResponse>();
  return (request, response) => {
    const before = last.get(request.socket);
    last.set(request.socket, response);
    if (before === undefined || before.writableFinished) answer(request, response);
    else before.once('close', () => answer(request, response));
  };
}
