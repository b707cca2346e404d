import type { SignatureInfo } from '../../runtime/rpc/replies.ts';
import type { Commitment, Rpc } from '../../runtime/rpc/rpc.ts';
import { SYSTEM_PROGRAM } from '../../schemas/solana/system-program.ts';
import { HistoryUnavailableError, PlaceUnknownError } from '../history/gap.ts';
import { SETTLED_AFTER, VOTE_PROGRAM } from '../history/prove-top.ts';
import { signaturePages } from '../history/signature-pages.ts';

/**
 * Slots that the comparison stays behind the tip. What it strikes out is struck for good, and it comes to no slot twice
 * by itself: the index of each node has to be whole there, and what is listed has to stay. At `confirmed` a fork may
 * still be dropped until a slot has 32 blocks on top of it, and is final: 64 slots have them even where every other one
 * is skipped. Where a fork is dropped that lay deeper, by a restart of the cluster, the stream brings other blocks, and
 * their slots are compared again.
 */
export const BEHIND_TIP: Record<Commitment, bigint> = {
  confirmed: 32n + SETTLED_AFTER,
  finalized: SETTLED_AFTER,
};

/** A transaction by what both the chain and the index know of it; the optional fields are the index's alone. */
export interface PlacedTransaction {
  signature: string;
  slot: bigint;
  /** Whether something of it has no time, or is not in the sums by its time yet. */
  undated?: boolean;
  /** Whether it may be written in part only: the process that wrote it was killed. */
  unwritten?: boolean;
  /** What it is known to have come to: it did something here, or failed. */
  outcome?: 'effects' | 'failed';
  /** Set where the stream told two versions of it: its index in the block by one of them, or null. */
  disputed?: { index: number | null };
}

export interface Difference<T extends PlacedTransaction> {
  /** The chain has these, or a time of them, and the index has not; `unheard`: nothing at all is stored of one. */
  missing: { info: SignatureInfo; unheard: boolean }[];
  /** Stored, but the chain does not have them, or not in that slot. */
  ghosts: T[];
  /** The list marks them as failed, and they are stored with what they did here; or the other way round. */
  doubted: { info: SignatureInfo; stored: T }[];
  /** The chain has them, and the stream told two versions of them. */
  disputed: { info: SignatureInfo; stored: T }[];
}

/** Compares what the chain lists of some slots with what is stored of them. */
export function differenceOf<T extends PlacedTransaction>(
  listed: readonly SignatureInfo[],
  stored: readonly T[],
): Difference<T> {
  const nameOf = ({ signature, slot }: PlacedTransaction) => `${slot} ${signature}`;
  const onChain = new Set(listed.map(nameOf));
  const inIndex = new Map(stored.map((one) => [nameOf(one), one]));
  const missingOf = (info: SignatureInfo) => {
    const known = inIndex.get(nameOf(info));
    if (known === undefined) return [{ info, unheard: true }];
    if (known.disputed !== undefined) return [];
    // A node that knew no time when history was read may know it now, or another does.
    const isMissing = known.unwritten === true || (known.undated === true && info.blockTime !== null);
    return isMissing ? [{ info, unheard: false }] : [];
  };
  return {
    missing: listed.flatMap(missingOf),
    ghosts: stored.filter((one) => !onChain.has(nameOf(one))),
    doubted: listed.flatMap((info) => {
      const known = inIndex.get(nameOf(info));
      if (known === undefined || known.disputed !== undefined) return [];
      return known.outcome === (info.failed ? 'effects' : 'failed') ? [{ info, stored: known }] : [];
    }),
    disputed: listed.flatMap((info) => {
      const known = inIndex.get(nameOf(info));
      return known?.disputed === undefined ? [] : [{ info, stored: known }];
    }),
  };
}

export interface WindowOptions {
  rpc: Rpc;
  commitment: Commitment;
  programId: string;
  fromSlot: bigint;
  toSlot: bigint;
  /** A stored signature of a slot after the window, or null. */
  behind: string | null;
  signal: AbortSignal;
}

/** The transactions of the window, newest first. @throws RpcError, HistoryUnavailableError */
export async function listWindow(options: WindowOptions): Promise<SignatureInfo[]> {
  try {
    return await listFrom(options.behind, options);
  } catch (error) {
    // The stored signature after the window may itself be one that the chain does not have.
    if (options.behind === null || !(error instanceof PlaceUnknownError)) throw error;
    return listFrom(null, options);
  }
}

async function listFrom(before: string | null, options: WindowOptions): Promise<SignatureInfo[]> {
  const { rpc, programId, fromSlot, toSlot, signal } = options;
  const minContextSlot = leastSlot(options);
  const pages = signaturePages({ rpc, address: programId, before, minContextSlot, downTo: fromSlot, signal });
  const listed: SignatureInfo[] = [];
  for await (const { signatures, isLast } of pages) {
    listed.push(...signatures.filter(({ slot }) => slot >= fromSlot && slot <= toSlot));
    const lowest = signatures.at(-1)?.slot;
    if (isLast || (lowest !== undefined && lowest < fromSlot)) return listed;
  }
  throw new HistoryUnavailableError('stopped while listing');
}

/**
 * The slot that a node must have come to for its answers about a window to count, of several behind one address too: at
 * `confirmed` so far past it that what it has there stays. It may be a little behind the one that told the tip.
 */
const leastSlot = ({ commitment, toSlot }: Pick<WindowOptions, 'commitment' | 'toSlot'>): bigint =>
  toSlot + BEHIND_TIP[commitment] - SETTLED_AFTER;

/** A slot that was made twice may leave so many. */
const FEW = 50;
/** In a row: of nodes that take turns behind one address, one that is whole is among those asked. */
const ASKED = 3;

/**
 * Throws unless the chain has none of them in its slot: both the list and the transaction itself have to say so, by a
 * node that keeps what is as old, has the blocks there, and has indexed what comes after them.
 * @throws RpcError, HistoryUnavailableError where it is rather the node that lacks them
 */
export async function assertNotOnChain(
  ghosts: readonly PlacedTransaction[],
  listed: number,
  options: Pick<WindowOptions, 'rpc' | 'programId' | 'commitment' | 'toSlot'>,
): Promise<void> {
  const { rpc, programId } = options;
  if (ghosts.length > FEW && ghosts.length > listed)
    throw new HistoryUnavailableError(
      `the chain of SOLANA_RPC_URL lacks ${ghosts.length} stored transactions: it is another, or keeps no history`,
    );
  for (const slot of new Set(ghosts.map((ghost) => ghost.slot)))
    await mustBeIndexed(slot, leastSlot(options), rpc, programId);
  for (const { signature, slot } of ghosts) {
    for (let asked = 0; asked < ASKED; asked += 1) {
      const found = await rpc.getTransaction(signature);
      if (found !== null && found.slot === Number(slot))
        throw new HistoryUnavailableError(`the list lacks ${signature} of slot ${slot}`);
    }
  }
}

/**
 * Addresses with transactions in nearly every block, for slots where the program itself rests: votes, and transfers of
 * lamports.
 */
const BUSY = [VOTE_PROGRAM, SYSTEM_PROGRAM];

/**
 * An index is written in the order of the blocks, lists and transactions at once: its newest entry tells how far it is.
 * A node that never lists anything of the busy addresses is believed where the program itself rests.
 */
async function mustBeIndexed(
  slot: bigint,
  minContextSlot: bigint,
  rpc: Rpc,
  programId: string,
): Promise<void> {
  const read = { minContextSlot, keptFrom: slot, processedAt: slot } as const;
  let listsBusy = false;
  for (const address of [programId, ...BUSY]) {
    const [newest] = await rpc.getSignaturesForAddress(address, null, 1, read);
    if (newest !== undefined && newest.slot > slot) return;
    listsBusy ||= newest !== undefined && address !== programId;
  }
  if (!listsBusy) return;
  throw new HistoryUnavailableError(
    `the node lists nothing behind slot ${slot}: its index may end before it`,
  );
}
