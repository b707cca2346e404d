import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { createChain } from '../../../devnet/chain/chain.ts';
import { serveGeyser } from '../../../devnet/geyser/server.ts';
import { createFollowedStream } from '../../../ingest/stream/followed-stream/stream.ts';
import { createGeyserClient } from '../../../ingest/stream/geyser/client.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { awaited } from '../../support/awaited.ts';

const REWRITES = 100;
const addressOf = (at: number) => encodeBase58(createHash('sha256').update(`address ${at}`).digest());

let close = async () => {};
afterEach(() => close());

test('a hundred live filter rewrites in a row end no stream, and each newcomer is read', async () => {
  const chain = createChain({ dir: null, seed: 'rewrites', genesisTime: 1_760_000_000_000 });
  const geyser = await serveGeyser({ ledger: chain, port: 0 });
  const client = createGeyserClient(`127.0.0.1:${geyser.port}`, null);
  const stop = new AbortController();
  const logger = createLogger('silent', 'rewrites');
  const warned = vi.spyOn(logger, 'warn');
  const addresses = [addressOf(0)];
  const read = new Map<string, bigint>();
  /** Counts readings; the first is that of the first request. */
  let rewrites = 0;
  const take = (some: readonly string[], slot: bigint) => {
    rewrites += 1;
    for (const address of some) read.set(address, slot);
  };
  const beside = createFollowedStream({
    ...{ client, commitment: 'confirmed', position: null, logger, signal: stop.signal },
    addresses: () => addresses,
    isOfCore: () => false,
    coreTimeOf: () => 0,
    core: { last: null, held: 0 },
    onReached: () => {},
    onUnreadable: () => {},
    onAtWork: () => {},
    ...{ read: take, reread: take },
    onLate: () => {},
    onCeiling: (ceiling) => {
      if (ceiling !== null && ceiling >= 0n) beside.upTo(ceiling);
    },
    onFollowed: () => {},
    onAway: () => {},
  });
  const running = beside.run();
  beside.onCore();
  close = async () => {
    stop.abort();
    await running;
    client.close();
    await geyser.close();
    chain.close();
  };

  await awaited(async () => {
    if (rewrites <= REWRITES) {
      const newcomer = addressOf(addresses.length);
      addresses.push(newcomer);
      beside.add([newcomer]);
    }
    await chain.produce([]);
    if (rewrites <= REWRITES || read.size < addresses.length)
      throw new Error(`${rewrites} rewrites, ${read.size} of ${addresses.length} read`);
  }, 1);
  expect(warned).not.toHaveBeenCalled();
});
