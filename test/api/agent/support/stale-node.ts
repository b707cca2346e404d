import http from 'node:http';

/** A node that can be stuck: then it repeats earlier answers with their slots, and ignores minContextSlot. */
export interface StaleNode {
  url: string;
  /** From now on it repeats the answers that it gave before. */
  stick(): void;
  goOn(): void;
  close(): Promise<void>;
}

interface Asked {
  id: unknown;
  method: string;
  params: [string, object];
}

/** @param upstream the node that it follows until it is stuck. */
export async function startStaleNode(upstream: string): Promise<StaleNode> {
  const known = new Map<string, object>();
  let stuck = false;
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as Asked;
    const what = `${method} ${params[0]}`;
    let answer = stuck ? known.get(what) : undefined;
    if (answer === undefined) {
      const body = Buffer.concat(chunks);
      const headers = { 'content-type': 'application/json' };
      answer = (await (await fetch(upstream, { method: 'POST', headers, body })).json()) as object;
      known.set(what, answer);
    }
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...answer, id }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    stick: () => {
      stuck = true;
    },
    goOn: () => {
      stuck = false;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
