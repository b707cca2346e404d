import { models } from '../../clickhouse/queries/registries.ts';
import type { PostsResponse } from '../../schemas/responses/posts.ts';
import { timeOf } from '../../schemas/units.ts';
import { modelOf } from '../figures/model.ts';
import { pageOf } from '../http/paging.ts';
import type { Coin } from './find.ts';

/** `GET /coins/:mint/posts`: the agent's posts beside the policy they are about, newest first. */
export async function posts({ mint, policy, store, context, deps }: Coin): Promise<PostsResponse> {
  const { limit, offset } = pageOf(context.query, { fallback: 20, max: 100 });
  const [modelRows, feed] = await Promise.all([
    models(store),
    deps.readPosts === null ? { total: 0, posts: [] } : deps.readPosts(mint, limit, offset),
  ]);
  return {
    mint,
    source: 'agent posts, signed in by the key in Policy.agent',
    policy: {
      mode: policy.mode,
      agent: policy.agent,
      agentActive: policy.mode === 'Agent' && policy.agent !== null,
      risk: policy.risk,
      model: modelOf(policy, modelRows),
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
