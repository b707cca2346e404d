import { LRUCache } from 'lru-cache';
import { pause } from '../../runtime/lifecycle.ts';
import { RpcError } from '../../runtime/rpc/error.ts';
import type { RpcAccount } from '../../runtime/rpc/replies.ts';
import type { Rpc } from '../../runtime/rpc.ts';
import { decodeAccount, type Policy, type ProgramAccount } from '../../schemas/accounts.ts';
import { CLASS_BITS } from '../../schemas/asset-classes.ts';
import { decodeKey, encodeBase58 } from '../../schemas/base58.ts';
import { MalformedError } from '../../schemas/malformed.ts';
import { modelAddress, originAddress, policyAddress } from '../../schemas/pda.ts';
import type { ModelRef } from '../../schemas/responses/parts.ts';
import { Refusal } from './refusal.ts';

/** A policy as the chain has it, at `slot` or later. */
export interface LivePolicy {
  mint: string;
  /** Base58; null when unset. */
  agent: string | null;
  slot: bigint;
  account: Policy;
}

export interface ChainReader {
  /**
   * @param decidedSlot slot of the newest reading that another process decided by.
   * @throws Refusal unknown_policy, or chain_unreachable where no node answers with a state that is new enough.
   */
  policy(mint: string, decidedSlot: bigint): Promise<LivePolicy>;
  /** The model that the policy points at. @throws Refusal chain_unreachable */
  model(policy: LivePolicy): Promise<ModelRef>;
  /** Whether the policy's origin carries the OPTION bit. @throws Refusal chain_unreachable */
  tradesOptions(policy: LivePolicy): Promise<boolean>;
}

export interface ChainOptions {
  rpc: Rpc;
  programId: string;
  /** The slot at which the index holds the policy at this address; 0 where it holds none. */
  storedSlot(address: string): Promise<bigint>;
}

const ATTEMPTS = 3;
/** A node one slot behind has caught up after one. */
const BEHIND_WAIT_MS = 400;
const STORED_SLOT_MS = 2_000;
const never = new AbortController().signal;

export function createChainReader({ rpc, programId, storedSlot }: ChainOptions): ChainReader {
  const program = decodeKey(programId);
  if (program === null) throw new TypeError('programId is no public key');
  const decided = new LRUCache<string, { slot: bigint }>({ max: 100_000 });

  async function account<Type extends ProgramAccount['type']>(
    type: Type,
    address: string,
    least: bigint,
  ): Promise<{ slot: bigint; account: Extract<ProgramAccount, { type: Type }> | null }> {
    const read = await newEnough(rpc, address, least);
    const decoded = read.account === null ? null : ownAccount(read.account, program as Uint8Array);
    return {
      slot: read.slot,
      account: decoded?.type === type ? (decoded as Extract<ProgramAccount, { type: Type }>) : null,
    };
  }

  return {
    policy: async (mint, decidedSlot) => {
      const key = decodeKey(mint);
      if (key === null) throw new Refusal('invalid_request', 'mint must be a base58 public key');
      const address = encodeBase58(policyAddress(program, key));
      const stored = await inTime(storedSlot(address));
      const least = highest(stored, decidedSlot, decided.get(mint)?.slot ?? 0n);
      const read = await account('Policy', address, least);
      if (read.account === null || !Buffer.from(read.account.mint).equals(key))
        throw new Refusal('unknown_policy', `no policy account on chain for mint ${mint}`);
      decided.set(mint, { slot: highest(read.slot, decided.get(mint)?.slot ?? 0n) });
      const unset = read.account.agent.every((byte) => byte === 0);
      return {
        mint,
        agent: unset ? null : encodeBase58(read.account.agent),
        slot: read.slot,
        account: read.account,
      };
    },
    model: async ({ account: policy, slot }) => {
      const address = encodeBase58(modelAddress(program, policy.modelId));
      const { account: model } = await account('Model', address, slot);
      return {
        id: policy.modelId,
        name: model?.name ?? null,
        provider: model?.provider ?? null,
        enabled: model?.enabled ?? null,
      };
    },
    tradesOptions: async ({ account: policy, slot }) => {
      const address = encodeBase58(originAddress(program, policy.originId));
      const { account: origin } = await account('Origin', address, slot);
      return origin !== null && (origin.assetClassMask & CLASS_BITS.OPTION) !== 0;
    },
  };
}

/** @throws Refusal where the key is not the agent of a policy in Agent mode. */
export function mustBeAgent(policy: LivePolicy, agent: string): void {
  if (policy.account.mode === 'Agent' && policy.agent === agent) return;
  throw new Refusal('not_the_agent', `${agent} is not the agent of the policy of mint ${policy.mint}`);
}

function highest(first: bigint, ...others: readonly bigint[]): bigint {
  let most = first;
  for (const slot of others) if (slot > most) most = slot;
  return most;
}

/** What is not of the program, or does not decode, is no account of it. */
function ownAccount(account: RpcAccount, program: Uint8Array): ProgramAccount | null {
  if (!Buffer.from(account.owner).equals(program)) return null;
  try {
    return decodeAccount(account.data);
  } catch (error) {
    if (error instanceof MalformedError) return null;
    throw error;
  }
}

/** Asks up to three times; a node that is behind is given a slot's time. */
async function newEnough(rpc: Rpc, address: string, least: bigint) {
  const options = { commitment: 'confirmed', ...(least === 0n ? {} : { minContextSlot: least }) } as const;
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
  const reason = failure.kind === 'behind' ? 'its nodes are behind what is known' : 'no node answers';
  throw unreachable(reason, failure);
}

/** Without the index there is no telling what is too old, so an answer does not count. */
async function inTime(slot: Promise<bigint>): Promise<bigint> {
  const late = new AbortController();
  const limit = pause(STORED_SLOT_MS, late.signal).then(() => {
    throw new Error(`no answer in ${STORED_SLOT_MS} ms`);
  });
  try {
    return await Promise.race([slot, limit]);
  } catch (error) {
    throw unreachable('the index does not say which slot it holds', error);
  } finally {
    late.abort();
    limit.catch(() => undefined);
  }
}

function unreachable(reason: string, cause: unknown): Refusal {
  const refusal = new Refusal('chain_unreachable', `the chain cannot be read now: ${reason}`);
  refusal.cause = cause;
  return refusal;
}
