import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveRpc } from '../../../devnet/rpc/server.ts';
import { fetchTransaction } from '../../../ingest/history/fetch-transaction.ts';
import { type Gap, PlaceUnknownError, PrunedError } from '../../../ingest/history/gap.ts';
import { historySlices } from '../../../ingest/history/signature-slices.ts';
import type { SignatureInfo } from '../../../runtime/rpc/replies.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';
import { ledgerTransactions } from '../support/ledger-facts.ts';
import { openStreamStage, type StreamStage } from '../support/stream-stage.ts';

const PAGE = 10;

let stage: StreamStage;
let rpc: Rpc;
let gap: Gap;

beforeAll(async () => {
  stage = await openStreamStage({ seed: 'unkind-lists', policies: 5 });
  await stage.live(120);
  gap = { fromSlot: 0n, toSlot: stage.chain.tip().slot, toTime: null };
  for (let made = 0; made < 80; made += 1) await stage.chain.produce([]);
  rpc = createRpc(stage.rpc.url, { commitment: 'confirmed' });
});
afterAll(() => stage.close());

type List = (before: string | null, page: SignatureInfo[]) => SignatureInfo[] | Promise<SignatureInfo[]>;

/** The signatures that are listed of the gap. @param made how the node changes its pages */
async function listed(made: List = (_, page) => page, of = rpc, limit = PAGE): Promise<string[]> {
  const changed: Rpc = {
    ...of,
    getSignaturesForAddress: async (address, before, wanted, options) =>
      made(before, await of.getSignaturesForAddress(address, before, Math.min(wanted, limit), options)),
  };
  const { signal } = new AbortController();
  const found: string[] = [];
  for await (const slice of historySlices(gap, { rpc: changed, programId: stage.chain.programId, signal }))
    found.push(...slice.signatures.map(({ signature }) => signature));
  return found;
}

describe('a list of signatures that', () => {
  test('names a signature twice, at the end of a page or inside, is read as if it named it once', async () => {
    const twice: List = (_, page) => page.flatMap((info, at) => (at % 3 === 0 ? [info, info] : [info]));
    expect(await listed(twice)).toEqual(await listed());
  });

  test('starts from the newest whatever place it is asked from is an error, not the end of history', async () => {
    const { programId } = stage.chain;
    const deaf =
      (limit: number): List =>
      () =>
        rpc.getSignaturesForAddress(programId, null, limit);
    await expect(listed(deaf(PAGE))).rejects.toThrow(PlaceUnknownError);
    await expect(listed(deaf(1_000), rpc, 1_000)).rejects.toThrow(PlaceUnknownError);
  });

  test('lacks a signature at the end of a page but starts the next page with it loses nothing', async () => {
    const all = await rpc.getSignaturesForAddress(stage.chain.programId, null, 1_000);
    // Pages overlap by one: the last but one of the third page, or of a later one.
    const missing = all.find(({ failed }, at) => at > 2 * PAGE && at % (PAGE - 1) === PAGE - 2 && !failed);
    const isIt = ({ signature }: SignatureInfo) => signature === missing?.signature;
    const late: List = (_, page) => page.filter((info, at) => at === 0 || !isIt(info));
    expect(new Set(await listed(late))).toEqual(new Set(await listed()));
  });
});

describe('several nodes', () => {
  test('a pruned node does not end the list: one that keeps all goes on with it, and without that it is an error', async () => {
    const forgetful = await serveRpc({ ledger: stage.chain, port: 0, manners: { firstBlock: 60n } });
    const both = createRpc([forgetful.url, stage.rpc.url], { commitment: 'confirmed' });
    expect(await listed(undefined, both)).toEqual(await listed());
    const alone = createRpc([forgetful.url], { commitment: 'confirmed' });
    await expect(listed(undefined, alone)).rejects.toThrow(PrunedError);
    await forgetful.close();
  });
});

describe('a transaction fetched over RPC', () => {
  const [one, other] = [3, 4];
  const infoOf = (at: number) => {
    const { signature, slot } = ledgerTransactions(stage.chain)[at] as { signature: string; slot: bigint };
    return { signature, slot, blockTime: null };
  };

  test('is refused unless its signature and its slot are those that were listed', async () => {
    const info = infoOf(one);
    expect(await fetchTransaction(rpc, info, 0, null)).toMatchObject({ slot: info.slot });
    const another = { getTransaction: () => rpc.getTransaction(infoOf(other).signature) };
    await expect(fetchTransaction(another, info, 0, null)).rejects.toThrow(info.signature);
    const elsewhere = { ...info, slot: info.slot + 1n };
    await expect(fetchTransaction(rpc, elsewhere, 0, null)).rejects.toThrow(info.signature);
  });

  test('has no index if the node sends an invalid transactionIndex', async () => {
    const info = infoOf(one);
    const indexOf = async (transactionIndex: unknown) => {
      const told = {
        getTransaction: async () => ({ ...(await rpc.getTransaction(info.signature)), transactionIndex }),
      };
      return (await fetchTransaction(told, info, 0, null)).index;
    };
    expect(await indexOf(7)).toBe(7);
    expect(await indexOf(0)).toBe(0);
    for (const none of [-1, 0.5, 2 ** 32, '7', null, undefined]) expect(await indexOf(none)).toBeNull();
  });

  test('has no block time if its own and that of the list are far apart', async () => {
    const info = infoOf(one);
    const { blockTime } = await fetchTransaction(rpc, info, 0, null);
    const listedAt = async (time: number) =>
      (await fetchTransaction(rpc, { ...info, blockTime: time }, 0, null)).blockTime;
    expect(await listedAt((blockTime as number) + 50)).toBe(blockTime);
    expect(await listedAt((blockTime as number) + 3_600)).toBeNull();
    expect(await listedAt(1)).toBeNull();
  });
});
