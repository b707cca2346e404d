import { createAdaptiveLimit } from '../../runtime/rpc/adaptive-limit.ts';
import type { RpcAccount } from '../../runtime/rpc/replies.ts';
import type { ReadOptions, Rpc } from '../../runtime/rpc/rpc.ts';

/** Addresses that one getMultipleAccounts takes. */
export const ADDRESSES_PER_READ = 100;

/** Accounts as of one slot, in the order of their addresses. */
export interface AccountsPart {
  addresses: readonly string[];
  slot: bigint;
  accounts: (RpcAccount | null)[];
}

/** Reads accounts, as many per request as the provider takes, which is learned from its refusals. @throws RpcError */
export function createPartsReader(
  rpc: Pick<Rpc, 'getMultipleAccounts'>,
): (addresses: readonly string[], options: ReadOptions) => Promise<AccountsPart[]> {
  const limit = createAdaptiveLimit(1);
  return async (all, options) => {
    const parts: AccountsPart[] = [];
    for (let done = 0; done < all.length; done += parts.at(-1)?.addresses.length ?? 0)
      parts.push(
        await limit.ask(Math.min(all.length - done, ADDRESSES_PER_READ), async (many) => {
          const addresses = all.slice(done, done + many);
          return { addresses, ...(await rpc.getMultipleAccounts(addresses, options)) };
        }),
      );
    return parts;
  };
}
