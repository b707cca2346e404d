import { createSocket } from 'node:dgram';

const HEADER_BYTES = 12;
const TYPE_A = 1;

/** A name server on loopback that has only IPv4 addresses: for each query, those that `addresses` returns then. */
export async function nameServer(addresses: () => string[]): Promise<{ address: string; close(): void }> {
  const socket = createSocket('udp4', (question, from) => {
    const end = question.indexOf(0, HEADER_BYTES) + 5;
    const records = question.readUInt16BE(end - 4) === TYPE_A ? addresses() : [];
    const head = Buffer.from(question.subarray(0, end));
    head.writeUInt16BE(0x8180, 2);
    for (const [at, count] of [records.length, 0, 0].entries()) head.writeUInt16BE(count, 6 + 2 * at);
    // The name of each record is a pointer to that in the question.
    const answers = records.map((address) =>
      Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([head, ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${socket.address().port}`, close: () => void socket.close() };
}
