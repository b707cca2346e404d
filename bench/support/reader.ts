import net from 'node:net';

const GIVEN_UP_MS = 30_000;
const READ_BYTES = 256 * 1024;
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)\r\n/i;

interface Connection {
  ask(request: string): Promise<number>;
  isOpen(): boolean;
  end(): void;
}

interface Pool {
  idle: Connection[];
  open: number;
  /** Callers that wait for a free connection. */
  waiting: (() => void)[];
}

/**
 * Sends requests and discards the answers' bytes, over at most `mostConnections` to a server, which are kept open.
 * Node's own client would copy every chunk of a 42 MB answer into a buffer of its own, and collecting those takes half
 * a core from the server under test. Without a limit, each request due while the server stands still would open a
 * connection, and the measurement would be of how it accepts connections.
 */
export function createReader(mostConnections = 128) {
  const room = Buffer.allocUnsafeSlow(READ_BYTES);
  const pools = new Map<string, Pool>();

  const free = async (pool: Pool, { hostname, port }: URL): Promise<Connection> => {
    for (;;) {
      const connection = pool.idle.pop();
      if (connection?.isOpen() === true) return connection;
      // An idle connection may have been closed meanwhile.
      if (connection !== undefined) pool.open -= 1;
      else if (pool.open < mostConnections) {
        pool.open += 1;
        return connect(Number(port), hostname, room);
      } else await new Promise<void>((resolve) => pool.waiting.push(resolve));
    }
  };

  return {
    /** @returns status 0 where no answer came; `ms` from the call to the last byte, with any wait for a connection */
    async read(url: string, headers: Record<string, string> = {}): Promise<{ status: number; ms: number }> {
      const startedAt = performance.now();
      const target = new URL(url);
      const { host, pathname, search } = target;
      const pool = pools.get(host) ?? { idle: [], open: 0, waiting: [] };
      pools.set(host, pool);
      const connection = await free(pool, target);
      const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}`);
      const status = await connection.ask(
        `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}`,
      );
      pool.idle.push(connection);
      pool.waiting.shift()?.();
      return { status, ms: performance.now() - startedAt };
    },
    /** To be called once no request is under way. */
    close: () => {
      for (const { idle } of pools.values()) for (const connection of idle) connection.end();
    },
  };
}

/** @param room the buffer that all connections read into */
function connect(port: number, host: string, room: Buffer): Connection {
  let answered: (status: number) => void = () => undefined;
  let head = '';
  /** Bytes of the body that are still to come; null before the head is complete. */
  let left: number | null = null;
  const take = (bytes: number): void => {
    if (left !== null) left -= bytes;
    else {
      head += room.toString('latin1', 0, bytes);
      const end = head.indexOf(HEAD_END);
      if (end < 0) return;
      left = Number(LENGTH.exec(head)?.[1] ?? 0) - (head.length - end - HEAD_END.length);
    }
    if (left > 0) return;
    const status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
    [head, left] = ['', null];
    answered(status);
  };
  const onread = {
    buffer: room,
    callback: (bytes: number) => {
      take(bytes);
      return true;
    },
  };
  const socket = net.connect({ port, host, noDelay: true, onread });
  socket.setTimeout(GIVEN_UP_MS, () => socket.destroy());
  socket.on('error', () => undefined);
  socket.on('close', () => answered(0));
  return {
    ask: (request) =>
      new Promise((resolve) => {
        answered = resolve;
        socket.write(request);
      }),
    isOpen: () => !socket.destroyed,
    end: () => socket.destroy(),
  };
}
