import type http from 'node:http';

type Handler = (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void>;

/** What a request breaks off or breaks in ends that request and nothing else: a rejection would end the process. */
export function answering(handle: Handler): http.RequestListener {
  return (request, response) => {
    handle(request, response).catch(() => {
      if (response.headersSent || request.socket.destroyed) return void response.destroy();
      response.writeHead(500, { connection: 'close' }).end();
    });
  };
}
