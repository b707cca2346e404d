import net from 'node:net';

/** When to stop: before the server receives the COMMIT, or after it has carried it out. */
export type Moment = 'before the commit' | 'after the commit';

/** A proxy between the service and a Postgres, which calls a test at one COMMIT and withholds it or its answer. */
export interface CommitProxy {
  /** The server's address, through the proxy. */
  url: string;
  /** At the next COMMIT calls `stop`: before the server receives it, or at its answer, which is not forwarded. */
  atNextCommit(moment: Moment, stop: () => void): void;
  close(): Promise<void>;
}

const COMMIT = Buffer.from('COMMIT\0');

export async function startCommitProxy(serverUrl: string): Promise<CommitProxy> {
  const target = new URL(serverUrl);
  let armed: { moment: Moment; stop: () => void } | null = null;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(target.port), target.hostname);
    let deaf: (() => void) | null = null;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (armed !== null && chunk.includes(COMMIT)) {
        const { moment, stop } = armed;
        armed = null;
        if (moment === 'before the commit') return stop();
        deaf = stop;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (deaf === null) return void client.write(chunk);
      deaf();
      deaf = () => undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(serverUrl);
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    atNextCommit: (moment, stop) => {
      armed = { moment, stop };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
