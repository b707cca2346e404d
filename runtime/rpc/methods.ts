import { encodeBase58 } from '../../schemas/solana/base58.ts';
import { blockTimeOf } from '../../schemas/solana/block-time.ts';
import { createAdaptiveLimit } from './adaptive-limit.ts';
import { mustHaveProcessed } from './blocks-processed.ts';
import { NotKeptError, RpcError } from './error.ts';
import type { RpcNode } from './node.ts';
import type { RpcPool } from './pool.ts';
import type { ReadOptions, Rpc, RpcOptions } from './port.ts';
import {
  COMPLETENESS,
  completenessOf,
  contextSlot,
  parseAccount,
  parseOwnedAccount,
  parseReply,
  signaturePage,
  slotOf,
  transactionOf,
} from './replies.ts';
import { askForSmallerPage, FEWEST_LISTED, MAX_BYTES } from './reply-bounds.ts';
import { createSlotsWithoutTime } from './slots-without-time.ts';
import { createVersions } from './versions.ts';

/** Codes that say that a slot was skipped or its block is gone: there is no time to be had. */
const NO_BLOCK = new Set([-32001, -32004, -32007, -32009, -32011, -32014]);

/** To go through all of its accounts takes a node tens of seconds, and to send the answer as long again. */
const SLOW_MS: Partial<Record<keyof Rpc, number>> = { getProgramAccounts: 180_000 };

/** The methods of Rpc, asked of a pool of nodes. @param timeoutMs of one exchange */
export function rpcOver(pool: RpcPool, timeoutMs: number, options: RpcOptions): Rpc {
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  const inVersion = createVersions();
  const withoutTime = createSlotsWithoutTime();
  const listed = createAdaptiveLimit(FEWEST_LISTED);

  const ask = (node: RpcNode, method: keyof Rpc, params: readonly unknown[]) =>
    node.ask(method, params, Math.min(maxBytes, MAX_BYTES[method]), SLOW_MS[method] ?? timeoutMs);
  const call = <T>(method: keyof Rpc, params: readonly unknown[], read: (result: unknown) => T): Promise<T> =>
    pool.ask(async (node) => {
      const result = await ask(node, method, params);
      return parseReply(method, () => read(result));
    });

  const config = (read: ReadOptions = {}, more: Record<string, unknown> = {}) => ({
    commitment: options.commitment,
    ...(read.minContextSlot === undefined ? {} : { minContextSlot: Number(read.minContextSlot) }),
    ...more,
  });
  const base64 = (read?: ReadOptions, more = {}) => {
    const dataSlice =
      read?.mostBytes === undefined ? {} : { dataSlice: { offset: 0, length: read.mostBytes } };
    const bytes = read?.prefix === undefined ? null : encodeBase58(read.prefix);
    const filters = bytes === null ? {} : { filters: [{ memcmp: { offset: 0, bytes } }] };
    return config(read, { encoding: 'base64', ...dataSlice, ...filters, ...more });
  };

  /** @throws NotKeptError where the node does not keep that slot any more */
  const mustKeep = async (node: RpcNode, slot: bigint) => {
    const result = await ask(node, 'getFirstAvailableBlock', []);
    const first = parseReply('getFirstAvailableBlock', () => slotOf(result));
    if (first > slot && first > 1n) throw new NotKeptError(first);
  };

  const timeFrom = (node: RpcNode, slot: bigint, otherwise = nullWithoutBlock) =>
    ask(node, 'getBlockTime', [Number(slot)]).then(
      (result) => parseReply('getBlockTime', () => blockTimeOf(result)),
      otherwise,
    );

  const transactionFrom = (node: RpcNode, signature: string, read?: ReadOptions) =>
    inVersion(node, (maxSupportedTransactionVersion) =>
      ask(node, 'getTransaction', [
        signature,
        config(read, { encoding: 'json', maxSupportedTransactionVersion }),
      ]),
    );

  return {
    getAccountInfo: (address, read) =>
      call('getAccountInfo', [address, base64(read)], (result) => ({
        slot: contextSlot(result, read),
        account: parseAccount((result as { value: unknown }).value),
      })),
    getMultipleAccounts: (addresses, read) =>
      call('getMultipleAccounts', [addresses, base64(read)], (result) => {
        const values = (result as { value: unknown[] }).value;
        if (values.length !== addresses.length)
          throw new TypeError(`${values.length} of ${addresses.length} accounts`);
        return { slot: contextSlot(result, read), accounts: values.map(parseAccount) };
      }),
    getProgramAccounts: (program, read) =>
      call('getProgramAccounts', [program, base64(read, { withContext: true })], (result) => ({
        slot: contextSlot(result, read),
        accounts: (result as { value: unknown[] }).value.map(parseOwnedAccount),
      })),
    getSignaturesForAddress: async (address, before, wanted, read) => {
      const timeAt = async (node: RpcNode, slot: bigint) => {
        await read?.pace?.();
        return timeFrom(node, slot);
      };
      const list = (limit: number) => {
        const refused: NotKeptError[] = [];
        const asked = pool.ask(async (node) => {
          if (read?.keptFrom !== undefined) {
            await read.pace?.();
            await mustKeep(node, read.keptFrom).catch((error) => {
              if (error instanceof NotKeptError) refused.push(error);
              throw error;
            });
          }
          if (read?.processedAt !== undefined)
            await mustHaveProcessed(read.processedAt, (slot) => timeAt(node, slot));
          const more = before === null ? { limit } : { limit, before };
          const result = await ask(node, 'getSignaturesForAddress', [address, config(read, more)]).catch(
            askForSmallerPage(limit),
          );
          return parseReply('getSignaturesForAddress', () => signaturePage(result, limit));
        });
        return asked.catch((error) => {
          throw error instanceof NotKeptError ? leastPruned([error, ...refused]) : error;
        });
      };
      return listed.ask(wanted, list);
    },
    getTransaction: async (signature, read) => {
      const lacking = new Set<RpcNode>();
      const most: { found: Record<string, unknown> | null; told: number } = { found: null, told: -1 };
      try {
        return await pool.ask(async (node) => {
          const result = await transactionFrom(node, signature, read);
          const found = parseReply('getTransaction', () => transactionOf(result, signature));
          // Another node may have kept more.
          if (found === null) {
            lacking.add(node);
            throw new RpcError('behind', `getTransaction: no ${signature}`, { retryOn: 'anotherNode' });
          }
          const told = completenessOf(found, read?.inSlot ?? null);
          if (told === COMPLETENESS.whole) return found;
          if (told > most.told) Object.assign(most, { found, told });
          throw new RpcError('refused', `getTransaction: half of ${signature}`, { retryOn: 'anotherNode' });
        });
      } catch (error) {
        if (most.found !== null) return most.found;
        if (lacking.size > 0 && pool.nodes().every((node) => lacking.has(node))) return null;
        throw error;
      }
    },
    getSlot: (read) => call('getSlot', [config(read)], slotOf),
    getBlockTime: async (slot) => {
      const lacking = new Set<RpcNode>();
      const isWithoutTime = withoutTime.has(slot);
      try {
        return await pool.ask(async (node) => {
          const time = await timeFrom(node, slot, unlessBehind);
          if (time !== null || isWithoutTime) return time;
          // It may be this node alone that lacks the block, or its time.
          lacking.add(node);
          throw new RpcError('refused', `getBlockTime: none of slot ${slot}`, { retryOn: 'anotherHealthy' });
        });
      } catch (error) {
        if (lacking.size === 0 || !(error instanceof RpcError)) return nullWithoutBlock(error);
        if (pool.nodes().every((node) => lacking.has(node))) withoutTime.add(slot);
        return null;
      }
    },
    getFirstAvailableBlock: () => call('getFirstAvailableBlock', [], slotOf),
  };
}

/** Where no node keeps a slot: the error of the node whose history reaches back furthest. */
const leastPruned = ([first, ...others]: readonly [NotKeptError, ...NotKeptError[]]): NotKeptError =>
  others.reduce((least, one) => (one.firstSlot < least.firstSlot ? one : least), first);

function nullWithoutBlock(error: unknown): null {
  const told = error instanceof RpcError && error.kind !== 'unreachable' ? error.code : null;
  if (told !== null && NO_BLOCK.has(told)) return null;
  throw error;
}

/** The same, but throws where the node has not come to the slot yet: it may be asked again. */
function unlessBehind(error: unknown): null {
  if (error instanceof RpcError && error.kind === 'behind') throw error;
  return nullWithoutBlock(error);
}
