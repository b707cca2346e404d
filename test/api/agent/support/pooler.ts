import net from 'node:net';

/** Startup parameters that PgBouncer accepts by default. */
const TAKEN = new Set([
  ...['user', 'database', 'client_encoding', 'application_name'],
  ...['datestyle', 'timezone', 'standard_conforming_strings', 'intervalstyle'],
]);

export interface Pooler {
  /** URL of the same database through the pooler. */
  url: string;
  close(): Promise<void>;
}

/** A proxy before a Postgres that refuses, as PgBouncer does, connections that begin with any other parameter. */
export async function openPooler(postgres: string): Promise<Pooler> {
  const to = new URL(postgres);
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    open.add(client);
    client.on('error', () => {});
    let begun = Buffer.alloc(0);
    const begin = (chunk: Buffer) => {
      begun = Buffer.concat([begun, chunk]);
      if (begun.length < 4 || begun.length < begun.readInt32BE(0)) return;
      client.off('data', begin);
      const words = begun.toString('latin1', 8, begun.readInt32BE(0)).split('\0');
      const refused = words.find((name, at) => at % 2 === 0 && name !== '' && !TAKEN.has(name.toLowerCase()));
      if (refused !== undefined) {
        client.end(fatal(`unsupported startup parameter: ${refused}`));
        return;
      }
      const behind = net.connect(Number(to.port), to.hostname);
      open.add(behind);
      behind.on('error', () => client.destroy());
      behind.write(begun);
      client.pipe(behind).pipe(client);
    };
    client.on('data', begin);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(postgres);
  url.port = String((server.address() as net.AddressInfo).port);
  return {
    url: url.href,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

function fatal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
