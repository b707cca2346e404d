import type { Chain } from '../../../devnet/chain/chain.ts';
import { keyOf } from '../../../devnet/program/state/keys.ts';
import { serveRpc } from '../../../devnet/rpc/server.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';

const plain = (_: string, value: unknown) => {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value instanceof Map ? [...value] : value;
};
export const textOf = (value: unknown): string => JSON.stringify(value, plain) ?? 'nothing';

/** Every block of a chain up to a slot, skipped ones included, as text. */
export function* blocksOf(chain: Chain, upTo = chain.tip().slot): Generator<string> {
  for (let slot = chain.firstSlot; slot <= upTo; slot += 1n) yield textOf(chain.block(slot));
}

/** What a chain may be asked about: every signature, and every address that a transaction names or a block wrote. */
export function namesOf(chain: Chain): { signatures: Uint8Array[]; addresses: Uint8Array[] } {
  const signatures: Uint8Array[] = [];
  const addresses = new Map<string, Uint8Array>();
  for (let slot = chain.firstSlot; slot <= chain.tip().slot; slot += 1n) {
    const { transactions, writes } = chain.block(slot) ?? { transactions: [], writes: [] };
    for (const { address } of writes) addresses.set(keyOf(address), address);
    for (const { signature, message, loaded } of transactions) {
      signatures.push(signature);
      for (const key of [...message.accountKeys, ...loaded.writable, ...loaded.readonly])
        addresses.set(keyOf(key), key);
    }
  }
  return { signatures, addresses: [...addresses.values()] };
}

/** Everything that a chain answers about these, one line each. */
export function* toldOf(chain: Chain, names: ReturnType<typeof namesOf>): Generator<string> {
  yield* blocksOf(chain, chain.tip().slot + 3n);
  for (const signature of names.signatures) {
    const found = chain.transaction(signature);
    yield textOf(found === null ? null : [found.block.slot, found.tx]);
  }
  for (const address of names.addresses) {
    const key = keyOf(address);
    yield textOf([key, chain.account(address), chain.firstWrite(address), chain.state().lastWrite(key)]);
    yield textOf(chain.signaturesFor(address, null, 1_000_000));
  }
  for (const owner of new Set(names.addresses.map((address) => chain.account(address)?.owner ?? address)))
    yield textOf(chain.accountsByOwner(owner).map(textOf).sort());
  // Pages of several sizes, so that some cross the bounds of every segment.
  for (const limit of [1, 7, 100]) {
    const [program, rare] = [
      names.addresses.find((key) => keyOf(key) === chain.programId),
      names.addresses.at(-1),
    ];
    for (const address of [program, rare]) {
      if (address === undefined) continue;
      let before: Uint8Array | null = null;
      for (;;) {
        const page = chain.signaturesFor(address, before, limit);
        yield textOf(page);
        before = page.at(-1)?.signature ?? null;
        if (before === null) break;
      }
    }
  }
  // Pages before signatures of transactions that do not name the address, too.
  const [address] = names.addresses;
  if (address !== undefined)
    for (const before of names.signatures) yield textOf(chain.signaturesFor(address, before, 3));
  yield textOf([...chain.state().written()].sort());
  yield textOf([...chain.history()]);
  for (const skipped of [0, 1, 57, 1_000_000]) yield textOf([...chain.changes(skipped)]);
}

/** What the chain's RPC node answers about some of them. */
export async function answersOf(chain: Chain, names: ReturnType<typeof namesOf>): Promise<string[]> {
  const rpc = await serveRpc({ ledger: chain, port: 0 });
  const answers: string[] = [];
  const ask = async (method: string, ...params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(rpc.url, { method: 'POST', body });
    answers.push(`${method} ${JSON.stringify(params)} ${await response.text()}`);
  };
  const confirmed = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 };
  for (let slot = 0n; slot <= chain.tip().slot + 2n; slot += 3n) await ask('getBlockTime', Number(slot));
  for (const [at, signature] of names.signatures.entries())
    if (at % 5 === 0) await ask('getTransaction', encodeBase58(signature), confirmed);
  for (const [at, address] of names.addresses.entries())
    if (at % 5 === 0) {
      await ask('getAccountInfo', encodeBase58(address), { encoding: 'base64' });
      await ask('getSignaturesForAddress', encodeBase58(address), { limit: 50 });
    }
  for (const [at, signature] of names.signatures.entries())
    if (at % 40 === 0)
      await ask('getSignaturesForAddress', chain.programId, { before: encodeBase58(signature), limit: 30 });
  for (const method of ['getSlot', 'getFirstAvailableBlock']) await ask(method);
  await rpc.close();
  return answers;
}
