import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import * as grpc from '@grpc/grpc-js';

/** Stands for every secret of a configuration; long enough to be taken for a key in a path. */
export const MARK = 'marked-hunter2-secret';

/** MARK, and the encoded forms in which it is sent. */
export const MARKS = [MARK, Buffer.from(`user:${MARK}`).toString('base64'), encodeURIComponent(MARK)];

type Fault = 'refuses' | 'fails' | 'no JSON' | 'redirects' | 'refuses the login' | 'its own error' | 'hangs';

const FAULTS: readonly Fault[] = [
  ...(['fails', 'no JSON', 'redirects', 'refuses the login', 'its own error', 'refuses'] as const),
  'hangs',
];

export interface BrokenUpstreams {
  /** An HTTP address with the mark in its login and its path. */
  http(name: string): string;
  /** The same in the form of CLICKHOUSE_URL. */
  clickhouse: string;
  /** host:port for Kafka, which has a protocol of its own. */
  tcp: string;
  postgres: string;
  grpc: string;
  /** The faults that requests to this HTTP address have met. */
  met(name: string): ReadonlySet<Fault>;
  /** Calls of the stream that were refused. */
  refused(): number;
  close(): Promise<void>;
}

/**
 * All upstreams, broken in one way after another, and repeating everything they were asked with: logins, tokens, paths.
 * @param hanging names whose series of faults ends with an answer that never comes
 */
export async function breakUpstreams(hanging: readonly string[] = []): Promise<BrokenUpstreams> {
  const met = new Map<string, Set<Fault>>();
  const count = new Map<string, number>();
  const web = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const name = request.url?.split('/')[1]?.split('?')[0] ?? '';
    const turn = count.get(name) ?? 0;
    count.set(name, turn + 1);
    const faults = hanging.includes(name) ? FAULTS : FAULTS.slice(0, -1);
    const fault = faults[turn % faults.length] as Fault;
    met.set(name, (met.get(name) ?? new Set()).add(fault));
    const told = `${MARK} ${request.url} ${JSON.stringify(request.headers)} ${Buffer.concat(chunks)}`;
    const json = { 'content-type': 'application/json' };
    const error = { code: 5, message: told };
    const answers: Record<Fault, () => void> = {
      refuses: () => void request.socket.destroy(),
      fails: () => void response.writeHead(500).end(told),
      'no JSON': () => void response.end(told),
      redirects: () =>
        void response.writeHead(302, { location: `http://user:${MARK}@127.0.0.1:1/` }).end(told),
      'refuses the login': () =>
        void response.writeHead(401, { 'www-authenticate': `Basic realm="${MARK}"` }).end(told),
      'its own error': () =>
        void response
          .writeHead(200, json)
          .end(JSON.stringify({ jsonrpc: '2.0', id: null, error, data: told })),
      hangs: () => {},
    };
    answers[fault]();
  });
  const echo = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => void socket.end(data));
  });
  const postgres = net.createServer(wrongPassword);
  for (const server of [web, echo, postgres])
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stream = refusingStream();
  const streamPort = await stream.listen();
  const portOf = (server: net.Server) => (server.address() as AddressInfo).port;
  return {
    http: (name) => `http://user:${MARK}@127.0.0.1:${portOf(web)}/${name}/${MARK}`,
    clickhouse: `http://user:${MARK}@127.0.0.1:${portOf(web)}/bankroll`,
    tcp: `127.0.0.1:${portOf(echo)}`,
    postgres: `postgres://user:${MARK}@127.0.0.1:${portOf(postgres)}/bankroll`,
    grpc: `http://user:${MARK}@127.0.0.1:${streamPort}`,
    met: (name) => met.get(name) ?? new Set(),
    refused: stream.refused,
    close: async () => {
      web.closeAllConnections();
      for (const server of [web, echo, postgres]) server.close();
      stream.close();
    },
  };
}

/** A Postgres that asks for the password in the clear and repeats it in its refusal. */
function wrongPassword(socket: net.Socket): void {
  socket.on('error', () => {});
  socket.on('data', (data) => {
    if (data[0] !== 0x70) return void socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
    const text = Buffer.from(`SFATAL\0C28P01\0Mno login with ${data.subarray(5, -1)}\0D${MARK}\0\0`);
    const head = Buffer.alloc(5);
    head[0] = 0x45;
    head.writeInt32BE(text.length + 4, 1);
    socket.end(Buffer.concat([head, text]));
  });
}

/** A stream that refuses with one code after another, and repeats the token. */
function refusingStream() {
  const { UNAUTHENTICATED, INTERNAL, OUT_OF_RANGE, INVALID_ARGUMENT, UNKNOWN } = grpc.status;
  const codes = [UNAUTHENTICATED, INTERNAL, OUT_OF_RANGE, INVALID_ARGUMENT, UNKNOWN];
  const server = new grpc.Server();
  let refused = 0;
  const refuse = (metadata: grpc.Metadata) => {
    refused += 1;
    const details = `no from_slot for ${metadata.get('x-token')} ${MARK}`;
    return Object.assign(new Error(details), { details, code: codes[refused % codes.length] as grpc.status });
  };
  const same = (bytes: Buffer) => bytes;
  for (const name of ['GetVersion', 'GetSlot', 'SubscribeReplayInfo'])
    server.register(
      `/geyser.Geyser/${name}`,
      (call: grpc.ServerUnaryCall<Buffer, Buffer>, answer: grpc.sendUnaryData<Buffer>) =>
        answer(refuse(call.metadata)),
      ...([same, same, 'unary'] as const),
    );
  server.register(
    '/geyser.Geyser/Subscribe',
    (call: grpc.ServerDuplexStream<Buffer, Buffer>) => void call.emit('error', refuse(call.metadata)),
    ...([same, same, 'bidi'] as const),
  );
  return {
    refused: () => refused,
    listen: () =>
      new Promise<number>((resolve, reject) =>
        server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
          error === null ? resolve(port) : reject(error),
        ),
      ),
    close: () => server.forceShutdown(),
  };
}
