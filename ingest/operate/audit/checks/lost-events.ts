import { eventsPerSignature, policyOfMint } from '../../../../clickhouse/queries/audit/first-slot.ts';
import { chunks } from '../../../../runtime/chunks.ts';
import { inParallel } from '../../../../runtime/parallel.ts';
import type { SignatureInfo } from '../../../../runtime/rpc/replies.ts';
import type { Rpc } from '../../../../runtime/rpc/rpc.ts';
import { extractEvents } from '../../../../schemas/extract/extract.ts';
import { MalformedError } from '../../../../schemas/malformed.ts';
import type { TransactionRecord } from '../../../../schemas/records.ts';
import { decodeKey, encodeBase58 } from '../../../../schemas/solana/base58.ts';
import { readTransaction } from '../../../../schemas/transaction/transaction.ts';
import { fetchTransaction } from '../../../history/fetch-transaction.ts';
import type { AuditContext } from '../context.ts';
import { listDownTo, nullIfUnavailable } from '../list-down-to.ts';

/** Signatures of a policy that are looked through for a lost event. */
const MOST_LISTED = 20_000;
const SIGNATURES_AT_ONCE = 1_000;
/** Transactions that are read to find it. */
const MOST_READS = 2_000;
const READS_AT_ONCE = 4;

type LostOptions = Pick<AuditContext, 'store' | 'rpc' | 'programId' | 'startSlot' | 'signal'>;

/**
 * Finds the slot of the oldest transaction that has more events of a mint than are stored; null where none is found, or
 * where an older one that no node has may be it. The last answer is kept: several figures of a mint differ from the
 * same event on.
 */
export function createLostFinder(options: LostOptions): AuditContext['firstLost'] {
  let last: { key: string; slot: Promise<string | null> } | null = null;
  return (mint, upTo) => {
    const key = `${mint}/${upTo}`;
    if (last?.key !== key) last = { key, slot: firstLost(options, mint, upTo).catch(nullIfUnavailable) };
    return last.slot;
  };
}

async function firstLost(context: LostOptions, mint: string, upTo: string | null): Promise<string | null> {
  const { store, rpc, programId } = context;
  const policy = rpc === null ? null : await policyOfMint(store, mint);
  if (rpc === null || policy === null) return null;
  const listed = await transactionsOf(context, rpc, mint, policy);
  if (listed === null) return null;
  const inside = listed.filter(({ slot }) => upTo === null || slot <= BigInt(upTo));
  // Too many to read: those without a single event are the likely ones.
  const candidates = inside.length <= MOST_READS ? inside : inside.filter(({ stored }) => stored === 0);
  /** The oldest transaction that has more events, or that no node has: no newer one can be the first. */
  let oldest: { slot: bigint; isLost: boolean } | null = null;
  const isOlder = (slot: bigint) => oldest === null || slot < oldest.slot;
  const oldestFirst = candidates.slice(-MOST_READS).reverse();
  await inParallel(oldestFirst, READS_AT_ONCE, async (info) => {
    if (context.signal.aborted || !isOlder(info.slot)) return;
    const record = await fetchTransaction(rpc, info, 0, null).catch(nullIfUnavailable);
    const isLost = record !== null && eventsOf(mint, record, programId) > info.stored;
    if ((record === null || isLost) && isOlder(info.slot)) oldest = { slot: info.slot, isLost };
  });
  const found = oldest as { slot: bigint; isLost: boolean } | null;
  return found?.isLost === true ? String(found.slot) : null;
}

type Listed = SignatureInfo & { stored: number };

/** The transactions that name a policy, newest first, and how many events of its mint are stored of each; null: too many. */
async function transactionsOf(
  { store, startSlot, signal }: LostOptions,
  rpc: Rpc,
  mint: string,
  policy: string,
): Promise<Listed[] | null> {
  const all = await listDownTo(policy, { rpc, signal, downTo: startSlot, most: MOST_LISTED });
  if (all === null) return null;
  const listed: Listed[] = [];
  for (const found of chunks(all, SIGNATURES_AT_ONCE)) {
    const stored = await eventsPerSignature(
      store,
      mint,
      found.map(({ signature }) => signature),
    );
    // Those that the list marks as failed stay: each transaction says itself whether it failed.
    listed.push(...found.map((info) => ({ ...info, stored: stored.get(info.signature) ?? 0 })));
  }
  return listed;
}

/**
 * How many events of a mint a transaction has; 0 where it does not tell them, by cut logs or bytes that do not decode.
 */
function eventsOf(mint: string, record: TransactionRecord, programId: string): number {
  try {
    const extract = extractEvents(readTransaction(record), decodeKey(programId) as Uint8Array);
    if (extract.status !== 'whole') return 0;
    return extract.events.filter(({ event: { of } }) => of !== null && encodeBase58(of.mint) === mint).length;
  } catch (error) {
    if (error instanceof MalformedError) return 0;
    throw error;
  }
}
