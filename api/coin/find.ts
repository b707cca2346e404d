import type { Store } from '../../clickhouse/client.ts';
import { policiesAt, type StoredPolicy } from '../../clickhouse/queries/policy.ts';
import { decodeKey, encodeBase58 } from '../../schemas/base58.ts';
import { policyAddress } from '../../schemas/pda.ts';
import type { RouteContext, RouteReply } from '../http/route.ts';
import type { ReadDeps } from '../latest/read-deps.ts';

/** What a coin route answers from: one state of the policy, and the database it was read from. */
export interface Coin {
  mint: string;
  policy: StoredPolicy;
  store: Store;
  context: RouteContext;
  deps: ReadDeps;
}

/** Handler of a coin route: 404 for a mint without an indexed policy, any text included, else what `answer` says. */
export function coinHandler<Answer>(deps: ReadDeps, answer: (coin: Coin) => Promise<Answer>) {
  const program = decodeKey(deps.settings.programId);
  if (program === null) throw new TypeError('programId is no public key');
  return async (context: RouteContext): Promise<RouteReply> => {
    const mint = context.params.mint ?? '';
    const store = deps.currentStore();
    const key = decodeKey(mint);
    const address = key === null ? null : encodeBase58(policyAddress(program, key));
    const policy = address === null ? undefined : (await policiesAt(store, [address])).get(address);
    if (policy === undefined) return { status: 404, body: { error: `no policy indexed for mint ${mint}` } };
    return { status: 200, body: await answer({ mint, policy, store, context, deps }) };
  };
}
