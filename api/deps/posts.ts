import type { AgentPost } from '../../schemas/responses/coin/posts.ts';

/** Newest first; `total` counts all posts of the mint. */
export type ReadPosts = (
  mint: string,
  limit: number,
  offset: number,
) => Promise<{ total: number; posts: AgentPost[] }>;

/** Posts of all mints by their ascending numbers; a post may become visible after one with a higher number. */
export interface NumberedPosts {
  /** 0 before the first. */
  newest(): Promise<bigint>;
  /** Oldest first. */
  behind(after: bigint, most: number): Promise<AgentPost[]>;
  /** Those of these numbers that posts have, oldest first. */
  among(numbers: readonly bigint[]): Promise<AgentPost[]>;
  /** Numbers up to this one that no post has, and that were taken so lately that one may still commit; ascending. */
  unsettled(upTo: bigint): Promise<bigint[]>;
}
