import type { StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import { createLru } from '../../runtime/lru.ts';
import { decodeKey, encodeBase58 } from '../../schemas/solana/base58.ts';
import { policyAddress } from '../../schemas/solana/pda.ts';
import type { ReadDeps } from '../deps/read-deps.ts';
import type { ReadSettings } from '../deps/settings.ts';
import type { RouteReply, SharedContext } from '../http/route.ts';
import type { View } from '../latest/view.ts';

/** What a coin route answers from: one state of the policy, and the memory that it was read from. */
export interface Coin {
  mint: string;
  policy: StoredPolicy;
  view: View;
  query: URLSearchParams;
  settings: ReadSettings;
}

/** Finds the policy of a mint; null for any text that is not the mint of an indexed policy. */
export function coinFinder({ settings }: Pick<ReadDeps, 'settings'>) {
  const program = decodeKey(settings.programId);
  if (program === null) throw new TypeError('programId is no public key');
  /** Addresses of existing policies, by mint: deriving one costs as much as an answer. */
  const addresses = createLru<string>(50_000);
  /** Addresses while they are looked for, and of mints without a policy: a flood of made-up mints evicts none above. */
  const unknown = createLru<string>(1_000);
  const addressOf = (mint: string): string | null => {
    const known = addresses.get(mint) ?? unknown.get(mint);
    const key = known === undefined ? decodeKey(mint) : null;
    if (key === null) return known ?? null;
    const address = encodeBase58(policyAddress(program, key));
    unknown.set(mint, address);
    return address;
  };
  return ({ params, query }: SharedContext, view: View): Coin | null => {
    const mint = params.mint ?? '';
    const address = addressOf(mint);
    const policy = address === null ? undefined : view.get('policy', address);
    if (policy !== undefined && address !== null) addresses.set(mint, address);
    return policy === undefined ? null : { mint, policy, view, query, settings };
  };
}

export const noCoin = (mint: string | undefined): RouteReply => ({
  status: 404,
  body: { error: `no policy indexed for mint ${mint ?? ''}` },
});

/** Answers a coin route: 404 for a mint without an indexed policy, else what `answer` says. */
export function coinAnswer<Answer>(deps: ReadDeps, answer: (coin: Coin) => Answer) {
  const find = coinFinder(deps);
  return (context: SharedContext, view: View): RouteReply => {
    const coin = find(context, view);
    return coin === null ? noCoin(context.params.mint) : { status: 200, body: answer(coin) };
  };
}
