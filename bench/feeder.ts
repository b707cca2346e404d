import { randomBytes } from 'node:crypto';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { SlotStatus } from '@triton-one/yellowstone-grpc';
import { createChain } from '../devnet/chain.ts';
import { encodeBlock, encodeSlot, withFilters } from '../devnet/geyser/encode.ts';
import { bytesOf } from '../devnet/keys.ts';
import type { AccountWrite, Block, LedgerTransaction } from '../devnet/ledger.ts';
import { createLife } from '../devnet/life.ts';

/** Serves pre-encoded slots over raw HTTP/2 as fast as the client drains, from a process of its own. */

const POLICIES = 400;
const TRANSACTIONS_PER_SLOT = 40;
const ACCOUNT_BYTES = 619;
const FIRST_SLOT = 1_000n;

const slots = Number(process.argv[2] ?? 250);

interface Samples {
  policies: AccountWrite[];
  transactions: LedgerTransaction[];
  programId: string;
}

async function samples(): Promise<Samples> {
  const chain = createChain({ dir: null, seed: 'bench', genesisTime: Date.now() });
  const life = createLife(chain, {
    seed: 'bench',
    policies: POLICIES,
    rate: 60,
    metadataBase: 'http://127.0.0.1:1',
  });
  const transactions: LedgerTransaction[] = [];
  while (chain.state().policies.size < POLICIES) {
    const block = await chain.produce(life.next());
    transactions.push(...block.transactions.filter(({ ours, events }) => ours && events.length > 0));
  }
  const policies = [...chain.state().policies.keys()].flatMap((address) => {
    const account = chain.account(bytesOf(address));
    return account === null ? [] : [account];
  });
  return {
    policies,
    transactions: transactions.slice(-TRANSACTIONS_PER_SLOT * 10),
    programId: chain.programId,
  };
}

function frame(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function encodeOne(slot: bigint, { policies, transactions }: Samples): Buffer {
  const writes = policies.map((account, index) => ({
    ...account,
    data: Buffer.concat([account.data], ACCOUNT_BYTES),
    writeVersion: slot * 1_000n + BigInt(index),
    signature: randomBytes(64),
  }));
  const start = Number(slot) * TRANSACTIONS_PER_SLOT;
  const block: Block = {
    slot,
    parent: slot - 1n,
    blockTime: Math.floor(Date.now() / 1000),
    blockhash: randomBytes(32),
    parentBlockhash: randomBytes(32),
    writes,
    transactions: Array.from({ length: TRANSACTIONS_PER_SLOT }, (_, index) => ({
      ...(transactions[(start + index) % transactions.length] as LedgerTransaction),
      signature: randomBytes(64),
      index,
    })),
  };
  const encoded = encodeBlock(block);
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
    `${JSON.stringify({ port, last, programId: found.programId, slots, perSlot: counts })}\n`,
  );
});
