import net from 'node:net';
import tls from 'node:tls';

const API_VERSIONS = 18;
const CORRELATION = 7;
const MAX_REPLY_BYTES = 1024 * 1024;

/**
 * Asks every broker which versions it speaks, the one question that needs no login: it shows that the address is a
 * broker, not that a password is right.
 */
export async function checkKafka(
  brokers: readonly string[],
  useTls: boolean,
  signal: AbortSignal,
): Promise<string> {
  await Promise.all(brokers.map((broker) => askBroker(broker, useTls, signal)));
  return `${brokers.length} of ${brokers.length} brokers answer`;
}

function askBroker(broker: string, useTls: boolean, signal: AbortSignal): Promise<void> {
  const colon = broker.lastIndexOf(':');
  const host = broker.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(broker.slice(colon + 1));
  return new Promise((resolve, reject) => {
    const socket = useTls
      ? tls.connect({ host, port, ...(net.isIP(host) === 0 ? { servername: host } : {}) })
      : net.connect({ host, port });
    const end = (why: string | null) => {
      signal.removeEventListener('abort', tooLate);
      socket.destroy();
      if (why === null) resolve();
      else reject(new Error(`${broker}: ${why}`));
    };
    const tooLate = () => end('no answer in time');
    signal.addEventListener('abort', tooLate, { once: true });
    let reply = Buffer.alloc(0);
    socket.on(useTls ? 'secureConnect' : 'connect', () => socket.write(versionsRequest()));
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.on('close', () => end('closed the connection'));
    socket.on('data', (chunk) => {
      reply = Buffer.concat([reply, chunk]);
      if (reply.length < 8) return;
      const length = reply.readInt32BE(0);
      const isReply = length >= 6 && length <= MAX_REPLY_BYTES && reply.readInt32BE(4) === CORRELATION;
      end(isReply ? null : 'is no Kafka broker');
    });
  });
}

/** ApiVersions, version 0: length, key, version, correlation id, client id. */
function versionsRequest(): Buffer {
  const client = Buffer.from('doctor');
  const request = Buffer.alloc(14 + client.length);
  request.writeInt32BE(request.length - 4, 0);
  request.writeInt16BE(API_VERSIONS, 4);
  request.writeInt16BE(0, 6);
  request.writeInt32BE(CORRELATION, 8);
  request.writeInt16BE(client.length, 12);
  request.set(client, 14);
  return request;
}
