import net from 'node:net';
import tls from 'node:tls';

const KEEP_ALIVE_MS = 60_000;
/** For this long a silent broker gets no new connection, so that kafkajs chooses another broker. */
const LEFT_ALONE_MS = 5_000;
/** For this long a silent broker comes last in the list that a new client begins with. */
const REMEMBERED_MS = 60_000;
/** A broker answers a connection's requests one after the other: one that sent anything this recently is only slow. */
const HEARD_WITHIN_MS = 8_000;

export interface Connecting {
  host: string;
  port: number;
  ssl: tls.ConnectionOptions;
  onConnect(): void;
}

/** Connections to brokers, of all clients of one cluster in this process. */
export interface Connections {
  connect(to: Connecting): net.Socket;
  /** A request to a broker (host:port) timed out: unless it sent something else lately, its connections are ended. */
  timedOut(broker: string): void;
  /** The same brokers, with the silent ones last. */
  inOrder(brokers: readonly string[]): string[];
}

/**
 * A stopped or unreachable broker still accepts connections, or keeps those it has, and kafkajs goes on sending it
 * requests that each wait for a timeout. So the first timeout ends the broker's connections, and for a while new ones
 * fail as if the broker were down, in which case kafkajs tries another.
 * @param now milliseconds that only go forward
 */
export function createConnections(now: () => number = () => performance.now()): Connections {
  const sockets = new Map<string, Set<net.Socket>>();
  const silentSince = new Map<string, number>();
  const heardAt = new Map<string, number>();
  const isSilent = (broker: string, withinMs: number) =>
    now() - (silentSince.get(broker) ?? Number.NEGATIVE_INFINITY) < withinMs;

  return {
    connect: ({ host, port, ssl, onConnect }) => {
      const broker = `${host}:${port}`;
      if (isSilent(broker, LEFT_ALONE_MS)) return endedAlready(unanswered(broker));
      const socket = open(host, port, ssl, onConnect);
      const held = sockets.get(broker) ?? new Set();
      sockets.set(broker, held.add(socket));
      socket.once('close', () => {
        held.delete(socket);
        letGo(socket);
      });
      socket.on('data', () => heardAt.set(broker, now()));
      return socket;
    },
    timedOut: (broker) => {
      if (now() - (heardAt.get(broker) ?? Number.NEGATIVE_INFINITY) < HEARD_WITHIN_MS) return;
      silentSince.set(broker, now());
      for (const socket of sockets.get(broker) ?? []) socket.destroy(unanswered(broker));
    },
    inOrder: (brokers) => {
      const rank = (broker: string) => Number(isSilent(broker, REMEMBERED_MS));
      return brokers.toSorted((a, b) => rank(a) - rank(b));
    },
  };
}

function open(host: string, port: number, ssl: tls.ConnectionOptions, onConnect: () => void): net.Socket {
  const serverName = net.isIP(host) === 0 ? { servername: host } : {};
  const socket = ssl
    ? tls.connect({ host, port, ...serverName, ...ssl }, onConnect)
    : net.connect({ host, port }, onConnect);
  return socket.setKeepAlive(true, KEEP_ALIVE_MS);
}

function endedAlready(error: Error): net.Socket {
  const socket = new net.Socket();
  letGo(socket);
  return socket.destroy(error);
}

/**
 * kafkajs calls `unref` on its last socket again with each reconnect. A socket that has ended would put each call off
 * with a listener for a connection that never comes.
 */
function letGo(socket: net.Socket): void {
  socket.unref = () => socket;
}

/** Has the error code of a broker that is down, with which kafkajs tries another broker instead of giving up. */
const unanswered = (broker: string): Error =>
  Object.assign(new Error(`${broker} does not answer`), { code: 'ECONNREFUSED' });
