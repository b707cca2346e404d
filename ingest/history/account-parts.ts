import { asksForLess } from '../../runtime/rpc/error.ts';
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

/** Reads accounts as many at a time as the provider takes, which learns from its refusals. @throws RpcError */
export function createPartsReader(
  rpc: Pick<Rpc, 'getMultipleAccounts'>,
): (addresses: readonly string[], options: ReadOptions) => Promise<AccountsPart[]> {
  let most = ADDRESSES_PER_READ;
  return async (all, options) => {
    const parts: AccountsPart[] = [];
    let tried = most;
    for (let done = 0; done < all.length; ) {
      const addresses = all.slice(done, done + tried);
      try {
        parts.push({ addresses, ...(await rpc.getMultipleAccounts(addresses, options)) });
        done += addresses.length;
        // Where nothing is taken it is not the number that is refused.
        most = tried;
      } catch (error) {
        if (addresses.length === 1 || !asksForLess(error)) throw error;
        tried = Math.floor(addresses.length / 2);
      }
    }
    return parts;
  };
}
