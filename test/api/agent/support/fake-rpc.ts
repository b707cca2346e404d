import { createHash } from 'node:crypto';
import http from 'node:http';
import { encodeAccount } from '../../../../devnet/program/state/borsh.ts';
import { decodeKey, encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { modelAddress, originAddress, policyAddress } from '../../../../schemas/solana/pda.ts';
import { PROGRAM } from '../../support/rows.ts';

const OWN = Buffer.from(PROGRAM);
export const UNSET = '11111111111111111111111111111111';

export interface FakePolicy {
  mint: string;
  agent: string;
  mode?: number;
  originId?: number;
  modelId?: number;
  /** The program that owns the account; ours by default. */
  owner?: Buffer;
}

/** A node whose accounts and faults a test sets by hand. */
export interface FakeRpc {
  url: string;
  /** Slot of the node's tip; what is final is 32 slots behind. */
  slot: number;
  /** `busy` answers 503, `refuse` closes connections, `hang` answers nothing, `stale` ignores minContextSlot. */
  fault: 'busy' | 'refuse' | 'hang' | 'stale' | null;
  /** minContextSlot of the requests so far. */
  asked: (number | undefined)[];
  /** The type of account and the commitment of the requests so far. */
  commitments: string[];
  /** Runs `happens` before the next answer about an account of this type. */
  holdNext(type: (typeof TYPES)[number], happens: () => Promise<void>): void;
  policy(policy: FakePolicy): void;
  /** As if there had never been a policy of the mint. */
  forget(mint: string): void;
  raw(mint: Buffer, data: Uint8Array): void;
  origin(id: number, mask: number): void;
  model(id: number, name: string, enabled?: boolean): void;
  close(): Promise<void>;
}

const TYPES = ['Policy', 'Model', 'Origin'] as const;
const key = (fill: number) => encodeBase58(Buffer.alloc(32, fill));

export async function startFakeRpc(): Promise<FakeRpc> {
  const accounts = new Map<string, { data: Uint8Array; owner: Buffer }>();
  const held = new Map<string, () => Promise<void>>();
  const put = (address: Uint8Array, data: Uint8Array, owner: Buffer = OWN) =>
    void accounts.set(encodeBase58(address), { data, owner });
  const server = http.createServer(async (request, response) => {
    if (node.fault === 'refuse') return void request.socket.destroy();
    if (node.fault === 'busy') return void response.writeHead(503).end('busy');
    if (node.fault === 'hang') return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: number;
      method: string;
      params: [string, { minContextSlot?: number; commitment?: string }];
    };
    const send = (answer: object) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    if (method !== 'getAccountInfo') return send({ error: { code: -32601, message: 'Method not found' } });
    const [address, { minContextSlot, commitment }] = params;
    node.asked.push(minContextSlot);
    const slot = commitment === 'finalized' ? node.slot - 32 : node.slot;
    const behind = minContextSlot !== undefined && minContextSlot > slot && node.fault !== 'stale';
    const found = accounts.get(address);
    const type = TYPES.find(
      (one) => found !== undefined && markOf(discriminatorOf(one)) === markOf(found.data),
    );
    node.commitments.push(`${type} ${commitment}`);
    const happens = found === undefined ? undefined : held.get(markOf(found.data));
    if (happens !== undefined) {
      held.delete(markOf((found as { data: Uint8Array }).data));
      await happens();
    }
    const value =
      found === undefined
        ? null
        : {
            data: [Buffer.from(found.data).toString('base64'), 'base64'],
            owner: encodeBase58(found.owner),
            lamports: 1,
          };
    send(
      behind
        ? { error: { code: -32016, message: 'Minimum context slot has not been reached' } }
        : { result: { context: { slot }, value } },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const node: FakeRpc = {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    slot: 1000,
    fault: null,
    asked: [],
    commitments: [],
    holdNext: (type, happens) => void held.set(markOf(discriminatorOf(type)), happens),
    policy: ({ mint, agent, mode = 1, originId = 2, modelId = 1, owner }) => {
      const mintBytes = keyBytes(mint);
      put(
        policyAddress(PROGRAM, mintBytes),
        encodeAccount('Policy', {
          ...{ mint, quoteMint: key(2), feeKeyMint: key(3), authority: key(4), agent, guardian: key(5) },
          ...{ origin: encodeBase58(originAddress(PROGRAM, originId)), originId, mode, modelId },
          ...{ toLpBps: 5000, toBankrollBps: 5000, profitToLpBps: 0, profitToHoldersBps: 10000 },
          ...{ profitToBankrollBps: 0, risk: 80, targetAsset: key(6), targetLeverageX: 1 },
          ...{ locked: false, paused: false, feesClaimed: 0n, protocolFees: 0n, routedToLp: 0n },
          ...{ routedToBankroll: 0n, profitSwept: 0n, paidToHolders: 0n, tokensBurned: 0n, creditSpent: 0n },
          ...{ hwm: 0n, venueCount: 0, createdAt: 0n, bump: 255 },
        }),
        owner,
      );
    },
    forget: (mint) => void accounts.delete(encodeBase58(policyAddress(PROGRAM, keyBytes(mint)))),
    raw: (mint, data) => put(policyAddress(PROGRAM, mint), data),
    origin: (id, assetClassMask) =>
      put(
        originAddress(PROGRAM, id),
        encodeAccount('Origin', { id, name: `origin ${id}`, assetClassMask, maxRisk: 100, bump: 255 }),
      ),
    model: (id, name, enabled = true) =>
      put(
        modelAddress(PROGRAM, id),
        encodeAccount('Model', { id, name, provider: 'a lab', enabled, registeredAt: 0n, bump: 255 }),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  node.origin(1, 79);
  node.origin(2, 127);
  node.model(1, 'model one');
  return node;
}

const markOf = (data: Uint8Array) => Buffer.from(data.subarray(0, 8)).toString('hex');

function discriminatorOf(type: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`account:${type}`).digest().subarray(0, 8));
}

function keyBytes(text: string): Uint8Array {
  const bytes = decodeKey(text);
  if (bytes === null) throw new Error(`no key: ${text}`);
  return bytes;
}
