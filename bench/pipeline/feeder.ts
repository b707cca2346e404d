import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { SlotStatus } from '@triton-one/yellowstone-grpc';
import { encodeBlock, encodeSlot, withFilters } from '../../devnet/geyser/encode.ts';
import { blockOf, FIRST_SLOT, type Samples, samples, TRANSACTIONS_PER_SLOT } from '../support/samples.ts';

/** Serves pre-encoded slots over raw HTTP/2 as fast as the client drains, from a process of its own. */

const slots = Number(process.argv[2] ?? 250);

function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function encodeOne(slot: bigint, found: Samples): Buffer {
  const encoded = encodeBlock(blockOf(slot, found));
  return Buffer.concat(
    [
      ...encoded.accounts.map((update) => withFilters(update, ['owned'])),
      ...encoded.transactions.map((update) => withFilters(update, ['ours'])),
      withFilters(encodeSlot(slot, slot - 1n, SlotStatus.SLOT_CONFIRMED), ['slots']),
      withFilters(encoded.meta, ['meta']),
    ].map(frame),
  );
}

const found = await samples();
const feed = Array.from({ length: slots }, (_, index) => encodeOne(FIRST_SLOT + BigInt(index), found));

const server = http2.createServer();
server.on('stream', (stream) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.on('error', () => {});
  stream.once('data', async () => {
    for (const bytes of feed) {
      if (!stream.write(bytes)) await new Promise((resolve) => stream.once('drain', resolve));
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  const last = String(FIRST_SLOT + BigInt(slots) - 1n);
  const counts = { accounts: found.policies.length, transactions: TRANSACTIONS_PER_SLOT };
  process.stdout.write(
    `${JSON.stringify({ port, last, programId: found.chain.programId, slots, perSlot: counts })}\n`,
  );
});
