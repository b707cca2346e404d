import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';
import type { NumberedPosts } from '../../deps/posts.ts';
import type { Db } from '../../postgres/port.ts';
import { newestPost, postsAmong, postsBehind, postsOf, unsettledNumbers } from './store.ts';

/** The public feed of a mint, newest first; `total` counts all of its posts. */
export function readPosts(
  { readers }: Pick<Db, 'readers'>,
  mint: string,
  limit: number,
  offset: number,
): Promise<{ total: number; posts: AgentPost[] }> {
  return postsOf(readers, mint, limit, offset);
}

/** The posts of all mints by their numbers, for the streams that announce new ones. */
export function numberedPosts({ readers }: Pick<Db, 'readers'>): NumberedPosts {
  return {
    newest: () => newestPost(readers),
    behind: (after, most) => postsBehind(readers, after, most),
    among: (numbers) => postsAmong(readers, numbers),
    unsettled: (upTo) => unsettledNumbers(readers, upTo),
  };
}
