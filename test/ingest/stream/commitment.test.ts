import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { checkRpc } from '../../../ingest/operate/doctor/rpc.ts';
import { verifyNext } from '../../../ingest/verify/verify.ts';
import type { PlacedTransaction } from '../../../ingest/verify/verify-window.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { createRpc } from '../../../runtime/rpc/rpc.ts';
import type { LogRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { openStreamStage } from '../support/stream-stage.ts';

/** These take no commitment. */
const WITHOUT = new Set(['getBlockTime', 'getFirstAvailableBlock']);
const GHOST: PlacedTransaction = { signature: encodeBase58(new Uint8Array(64).fill(9)), slot: 40n };

/** Hands each request on to a node, and notes which commitment it carries. */
async function recording(url: string) {
  const noted = new Set<string>();
  const server = http.createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method, params } = JSON.parse(body) as { method: string; params: unknown[] };
    if (!WITHOUT.has(method))
      noted.add(`${method} ${(params.at(-1) as { commitment?: string } | undefined)?.commitment}`);
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => void server.close(() => resolve()));
  });
  return { noted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.each(['confirmed', 'finalized'] as const)(
  'at %s every read carries that commitment: history, sweeps, the comparison with the chain, doctor',
  async (commitment) => {
    const stage = await openStreamStage({ seed: 'commitment', policies: 6 });
    onTestFinished(() => stage.close());
    const { noted, url } = await recording(stage.rpc.url);
    const { programId } = stage.chain;
    await stage.live(80);
    stage.start({ rpcUrl: url, commitment });
    await stage.restUntil('history is read', () => stage.model.gaps.get(0n)?.closed === true);

    for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
    const direct = createRpc(stage.rpc.url, { commitment: 'confirmed' });
    const all = await direct.getSignaturesForAddress(programId, null, 1_000);
    const [lost, ...stored] = all.toReversed().map(({ signature, slot }) => ({ signature, slot }));
    const { signal } = new AbortController();
    const logged: LogRecord[] = [];
    const store = {
      verifiedSlot: async () => null,
      nextSlot: async () => lost?.slot ?? null,
      signatureBehind: async () => null,
      storedBetween: async (from: bigint, to: bigint) =>
        [...stored, GHOST].filter(({ slot }) => slot >= from && slot <= to),
      tracesOf: async () => [],
      disputedSlots: async () => [],
    };
    const found = await verifyNext(
      {
        ...{ rpc: createRpc(url, { commitment }), commitment, store, programId, startSlot: 0n, everyMs: 0 },
        log: { append: async (records) => void logged.push(...records) },
        applied: async () => stage.chain.tip().slot,
        openGaps: async () => [],
        ...{ logger: createLogger('silent', 'test'), signal },
      },
      null,
    );
    expect(found).toMatchObject({ read: 1, struck: 1 });

    const { slot, blockTime } = stage.chain.tip();
    const heard = Promise.resolve({ slot: slot - 40n, time: blockTime - 16 });
    const config = readConfig({ SOLANA_RPC_URL: url, COMMITMENT: commitment });
    const findings = await checkRpc(url, config, signal, heard);
    expect(findings[0]?.mark).toBe('ok');

    const METHODS = ['getAccountInfo', 'getMultipleAccounts', 'getProgramAccounts'];
    const OTHERS = ['getSignaturesForAddress', 'getSlot', 'getTransaction'];
    expect([...noted].sort()).toEqual([...METHODS, ...OTHERS].map((method) => `${method} ${commitment}`));
  },
);
