import type { Config } from '../../../runtime/config/config.ts';
import { createRpc, type Rpc } from '../../../runtime/rpc/rpc.ts';

const PAGE = 1000;
/** The list of a program that is older than this many transactions is not read to its end. */
const MOST_PAGES = 20;

/** One line about a node. @throws RpcError, Error with what is to be done */
export async function checkRpc(
  url: string,
  { programId, commitment, programStartSlot }: Config,
): Promise<string> {
  const rpc = createRpc(url, { commitment, timeoutMs: 10_000 });
  const [slot, first] = await Promise.all([rpc.getSlot(), rpc.getFirstAvailableBlock()]);
  const { account } = await rpc.getAccountInfo(programId);
  if (account === null) throw new Error(`no program ${programId} on its chain (PROGRAM_ID)`);
  const found = `at slot ${slot}, history from slot ${first}, has the program`;
  const oldest = await oldestSlot(rpc, programId);
  if (oldest === null) return found;
  if (oldest.isFirst && programStartSlot === 0n && first <= oldest.slot)
    return `${found}; its first transaction is in slot ${oldest.slot}: PROGRAM_START_SLOT=${oldest.slot}`;
  if (first <= 1n || first <= programStartSlot) return found;
  throw new Error(
    `${found}: history before slot ${first} is not to be had here; name an archive node beside it, or set PROGRAM_START_SLOT to the slot of the program's first transaction where that is later`,
  );
}

/** Slot of the oldest transaction that the node lists, and whether its list was read to the end. */
async function oldestSlot(rpc: Rpc, programId: string): Promise<{ slot: bigint; isFirst: boolean } | null> {
  let oldest: { signature: string; slot: bigint } | null = null;
  for (let read = 0; read < MOST_PAGES; read += 1) {
    const page = await rpc.getSignaturesForAddress(programId, oldest?.signature ?? null, PAGE);
    const last = page.at(-1);
    if (last === undefined) return oldest === null ? null : { slot: oldest.slot, isFirst: true };
    oldest = last;
  }
  return oldest === null ? null : { slot: oldest.slot, isFirst: false };
}
