import type { StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import type { ModelRow } from '../../clickhouse/queries/states/registries.ts';
import type { PostsResponse } from '../../schemas/responses/coin/posts.ts';
import { timeOf } from '../../schemas/units.ts';
import type { ReadPosts } from '../deps/posts.ts';
import type { ReadDeps } from '../deps/read-deps.ts';
import { modelOf } from '../figures/model.ts';
import { ageField } from '../http/answers/age.ts';
import { pageOf } from '../http/paging.ts';
import type { RouteContext, RouteReply } from '../http/route.ts';
import { coinFinder, noCoin } from './find.ts';

/** `GET /coins/:mint/posts`: the agent's posts beside the policy they are about, newest first. */
export function postsHandler(deps: ReadDeps) {
  const find = coinFinder(deps);
  return async (context: RouteContext): Promise<RouteReply> => {
    const { value: found } = await deps.latest.read((view) => {
      const coin = find(context, view);
      return coin && { policy: coin.policy, models: view.single('models') };
    });
    const mint = context.params.mint ?? '';
    if (found === null) return noCoin(mint);
    const { limit, offset } = pageOf(context.query, { fallback: 20, max: 100 });
    const feed = (await deps.readPosts?.(mint, limit, offset)) ?? { total: 0, posts: [] };
    const body = postsOf(mint, found, { limit, offset }, feed);
    return { status: 200, body, headers: ageField(deps.latest) };
  };
}

type Feed = Awaited<ReturnType<ReadPosts>>;

function postsOf(
  mint: string,
  { policy, models }: { policy: StoredPolicy; models: readonly ModelRow[] },
  { limit, offset }: { limit: number; offset: number },
  feed: Feed,
): PostsResponse {
  return {
    mint,
    source: 'agent posts, signed in by the key in Policy.agent',
    policy: {
      mode: policy.mode,
      agent: policy.agent,
      agentActive: policy.mode === 'Agent' && policy.agent !== null,
      risk: policy.risk,
      model: modelOf(policy, models),
      asOf: timeOf(policy.block_time),
      source: 'chain:Policy account',
    },
    limit,
    offset,
    total: feed.total,
    hasMore: offset + feed.posts.length < feed.total,
    posts: feed.posts,
  };
}
