import type http from 'node:http';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void>;

/** Has a failure of a handler end its own request with 500, or its connection: a rejection would end the process. */
export function answering(handle: Handler): http.RequestListener {
  return (request, response) => {
    handle(request, response).catch(() => {
      if (response.headersSent || request.socket.destroyed) return void response.destroy();
      response.writeHead(500, { connection: 'close' }).end();
    });
  };
}
