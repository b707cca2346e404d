import net from 'node:net';
import tls from 'node:tls';

const KEEP_ALIVE_MS = 60_000;
/** A silent broker is not asked for this long, so that whoever chooses a broker chooses another. */
const LEFT_ALONE_MS = 5_000;
/** For this long it is the last one that a new client begins with. */
const REMEMBERED_MS = 60_000;
/** A broker answers the requests of a connection one after the other: one that was heard of since is only slow. */
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
  /** Tells that a request to a broker (host:port) timed out: where nothing else came from it, its connections are ended. */
  timedOut(broker: string): void;
  /** The same brokers, those that answered first. */
  inOrder(brokers: readonly string[]): string[];
}

/**
 * A stopped or unreachable broker still accepts connections, or keeps those it has, and the client goes on asking it
 * for one timeout after the other. So the first timeout ends its connections, and for a while it refuses new ones as
 * a broker that is down does, which the client knows to go round.
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
 * The client lets go of a connection once more with each try to begin anew, and one that has ended would put each of them
 * off until it is connected.
 */
function letGo(socket: net.Socket): void {
  socket.unref = () => socket;
}

/** With the code of a broker that is down: the client tries another then, instead of giving up. */
const unanswered = (broker: string): Error =>
  Object.assign(new Error(`${broker} does not answer`), { code: 'ECONNREFUSED' });
