import { createLru } from '../../../runtime/lru.ts';
import { createBucket } from '../../../runtime/outside/bucket.ts';
import { pause } from '../../../runtime/process/lifecycle.ts';
import { RpcError } from '../../../runtime/rpc/error.ts';
import type { RpcAccount } from '../../../runtime/rpc/replies.ts';
import type { Commitment, Rpc } from '../../../runtime/rpc/rpc.ts';
import type { SlotTime } from '../../../runtime/rpc/same-chain.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import { decodeAccount, type Policy, type ProgramAccount } from '../../../schemas/program/accounts.ts';
import { CLASS_BITS } from '../../../schemas/program/asset-classes.ts';
import type { ModelRef } from '../../../schemas/responses/parts.ts';
import { decodeKey, encodeBase58 } from '../../../schemas/solana/base58.ts';
import { modelAddress, originAddress, policyAddress } from '../../../schemas/solana/pda.ts';
import { Refusal } from '../refusal.ts';
import { createSharedReadings } from './shared-readings.ts';
import { createSlotRange } from './slot-range.ts';

/** A policy as the chain has it, at `slot` or later. */
export interface LivePolicy {
  mint: string;
  /** Base58; null when unset. */
  agent: string | null;
  slot: bigint;
  /** A slot that the index has come to; 0 where none is known. */
  indexSlot: bigint;
  /** The highest slot that the chain can have reached by then; null where that is not known. */
  mostSlot: bigint | null;
  account: Policy;
}

/** Whom a chain read is made for: clients without a session have their own budget, so that they use up no session's. */
export type Asker = 'session' | 'stranger';

export interface ChainReader {
  /**
   * @param knownSlot slot of the newest reading that any process knows of; ignored if the chain cannot be there yet.
   * @throws Refusal unknown_policy, chain_unreachable where no node answers with a state that is new enough, or busy.
   */
  policy(mint: string, knownSlot: bigint, asker: Asker): Promise<LivePolicy>;
  /** The model that the policy points at. @throws Refusal chain_unreachable, busy */
  model(policy: LivePolicy): Promise<ModelRef>;
  /**
   * The slot of the newest change of the policy's agent after the slot `after`; null where the index holds none by now.
   * @throws Refusal chain_unreachable
   */
  agentChanged(mint: string, after: bigint): Promise<bigint | null>;
  /** Whether the policy's origin carries the OPTION bit. @throws Refusal chain_unreachable, busy */
  tradesOptions(policy: LivePolicy): Promise<boolean>;
}

export interface ChainOptions {
  /** Reads policies, always at `confirmed`: who may write is decided by the newest state. */
  policyRpc: Rpc;
  /** Reads models and origins, at COMMITMENT like all that is served. */
  rpc: Rpc;
  commitment: Commitment;
  programId: string;
  /** The slot at which the index holds the policy at this address; 0 where it holds none. */
  storedSlot(address: string): Promise<bigint>;
  /** The slot of the newest change of the policy's agent after the slot `after`; null where the index holds none. */
  agentChanged(mint: string, after: bigint): Promise<bigint | null>;
  /** The last slot that is applied in the index, and its block time; null before the first. */
  place(): Promise<SlotTime | null>;
  /** Chain reads a second, and at once, of all sessions together; as many again of all clients without a session. */
  perSecond?: number;
  burst?: number;
}

const ATTEMPTS = 3;
/** About a slot: a node that is one slot behind has caught up by then. */
const BEHIND_WAIT_MS = 400;
const INDEX_MS = 5_000;
/** How long a reading waits for its place in the budget. */
const BUDGET_WAIT_MS = 1_000;
const PER_SECOND = 100;
const BURST = 400;
const never = new AbortController().signal;

export function createChainReader(options: ChainOptions): ChainReader {
  const { policyRpc, rpc, commitment, programId, storedSlot, agentChanged } = options;
  const { perSecond = PER_SECOND, burst = BURST } = options;
  const program = decodeKey(programId);
  if (program === null) throw new TypeError('programId is no public key');
  const slotRange = createSlotRange(options.place);
  const decided = createLru<{ slot: bigint }>(100_000);
  const shared = createSharedReadings<LivePolicy>();
  const budgets = { session: createBucket(perSecond, burst), stranger: createBucket(perSecond, burst) };
  /** Asset class masks by origin id, kept for good: an origin is never edited or removed. */
  const masks = new Map<number, number>();

  async function account<Type extends ProgramAccount['type']>(
    type: Type,
    address: string,
    bounds: { least: bigint; most: bigint | null },
    asker: Asker,
  ): Promise<{ slot: bigint; account: Extract<ProgramAccount, { type: Type }> | null }> {
    if (!(await budgets[asker].take(AbortSignal.timeout(BUDGET_WAIT_MS))))
      throw new Refusal('busy', 'too many chain reads are waiting; try again in 1 s', 1);
    const read = await newEnough(type === 'Policy' ? policyRpc : rpc, address, bounds);
    const decoded = read.account === null ? null : ownAccount(read.account, program as Uint8Array);
    return {
      slot: read.slot,
      account: decoded?.type === type ? (decoded as Extract<ProgramAccount, { type: Type }>) : null,
    };
  }

  async function policyOf(mint: string, knownSlot: bigint, asker: Asker): Promise<LivePolicy> {
    const key = decodeKey(mint);
    if (key === null) throw new Refusal('invalid_request', 'mint must be a base58 public key');
    const address = encodeBase58(policyAddress(program as Uint8Array, key));
    const [stored, range] = await Promise.all([inTime(storedSlot(address)), slotRange()]);
    const most = range?.most ?? null;
    const ofChain = (slot = 0n) => (most === null || slot <= most ? slot : 0n);
    const least = highest(stored, ofChain(knownSlot), ofChain(decided.get(mint)?.slot));
    const read = await account('Policy', address, { least, most }, asker);
    if (read.account === null || !Buffer.from(read.account.mint).equals(key))
      throw new Refusal('unknown_policy', `no policy account on chain for mint ${mint}`);
    decided.set(mint, { slot: highest(read.slot, ofChain(decided.get(mint)?.slot)) });
    const unset = read.account.agent.every((byte) => byte === 0);
    const agent = unset ? null : encodeBase58(read.account.agent);
    const indexSlot = highest(stored, range?.applied ?? 0n);
    return { mint, agent, slot: read.slot, indexSlot, mostSlot: most, account: read.account };
  }

  /**
   * For what the policy points at. At `finalized` the policy's own slot is ahead of what any node may tell; what the
   * index has applied is final.
   */
  const boundsFor = ({ slot, indexSlot, mostSlot }: LivePolicy) => ({
    least: commitment === 'confirmed' ? slot : indexSlot,
    most: mostSlot,
  });

  return {
    policy: (mint, knownSlot, asker) =>
      shared(`${asker} ${mint}`, knownSlot, (least) => policyOf(mint, least, asker)),
    agentChanged: (mint, after) => inTime(agentChanged(mint, after)),
    model: async (live) => {
      const { modelId } = live.account;
      const address = encodeBase58(modelAddress(program, modelId));
      const { account: model } = await account('Model', address, boundsFor(live), 'session');
      return {
        id: modelId,
        name: model?.name ?? null,
        provider: model?.provider ?? null,
        enabled: model?.enabled ?? null,
      };
    },
    tradesOptions: async (live) => {
      const { originId } = live.account;
      const address = encodeBase58(originAddress(program, originId));
      const known = masks.get(originId);
      const mask =
        known ??
        (await account('Origin', address, boundsFor(live), 'session')).account?.assetClassMask ??
        null;
      if (mask === null) return false;
      masks.set(originId, mask);
      return (mask & CLASS_BITS.OPTION) !== 0;
    },
  };
}

/** The key that may write for the policy; null where there is none. */
export function agentOf({ account, agent }: LivePolicy): string | null {
  return account.mode === 'Agent' ? agent : null;
}

export function isAgent(policy: LivePolicy, agent: string): boolean {
  return agentOf(policy) === agent;
}

export function notTheAgent(mint: string, agent: string): Refusal {
  return new Refusal('not_the_agent', `${agent} is not the agent of the policy of mint ${mint}`);
}

function highest(first: bigint, ...others: readonly bigint[]): bigint {
  let most = first;
  for (const slot of others) if (slot > most) most = slot;
  return most;
}

/** The decoded account; null where the program does not own it or it does not decode. */
function ownAccount(account: RpcAccount, program: Uint8Array): ProgramAccount | null {
  if (!Buffer.from(account.owner).equals(program)) return null;
  try {
    return decodeAccount(account.data);
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}

/** Asks up to three times, and waits about a slot in between for a node that is behind. */
async function newEnough(rpc: Rpc, address: string, { least, most }: { least: bigint; most: bigint | null }) {
  const options = {
    ...(least === 0n ? {} : { minContextSlot: least }),
    ...(most === null ? {} : { mostContextSlot: most }),
  };
  let failure: unknown;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      const read = await rpc.getAccountInfo(address, options);
      // A node may ignore minContextSlot.
      if (read.slot >= least) return read;
      failure = new RpcError('behind', `the node is at slot ${read.slot}`);
    } catch (error) {
      failure = error;
      if (!(error instanceof RpcError) || error.kind !== 'behind') break;
    }
    if (attempt + 1 < ATTEMPTS) await pause(BEHIND_WAIT_MS, never);
  }
  if (!(failure instanceof RpcError)) throw failure;
  const reason =
    failure.kind === 'behind'
      ? 'every node answers with an older slot than was already seen'
      : 'no node answers';
  throw unreachable(reason, failure);
}

/**
 * The index's answer, within INDEX_MS. Without it nothing says which state of a node is too old: the request fails.
 * @throws Refusal chain_unreachable
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  const late = new AbortController();
  const limit = pause(INDEX_MS, late.signal).then(() => {
    throw new Error(`no answer in ${INDEX_MS} ms`);
  });
  try {
    return await Promise.race([answer, limit]);
  } catch (error) {
    throw unreachable('the index does not say what it holds', error);
  } finally {
    late.abort();
    limit.catch(() => undefined);
  }
}

export function unreachable(reason: string, cause: unknown): Refusal {
  const refusal = new Refusal('chain_unreachable', `the chain cannot be read now: ${reason}`);
  refusal.cause = cause;
  return refusal;
}
