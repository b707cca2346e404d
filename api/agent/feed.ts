import type { AgentPost } from '../../schemas/responses/posts.ts';
import type { Queries } from '../postgres/port.ts';
import { postsOf } from './store.ts';

/** The public feed of a mint, newest first; `total` counts all of its posts. */
export function readPosts(
  db: Queries,
  mint: string,
  limit: number,
  offset: number,
): Promise<{ total: number; posts: AgentPost[] }> {
  return postsOf(db, mint, limit, offset);
}
