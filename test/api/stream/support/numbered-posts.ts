import type { NumberedPosts } from '../../../../api/deps/posts.ts';
import type { AgentPost } from '../../../../schemas/responses/coin/posts.ts';

/** The posts that a test keeps, oldest first, as a store answers them. */
export function numberedPostsOf(stored: () => readonly AgentPost[]): NumberedPosts {
  const numbers = () => new Set(stored().map(({ id }) => BigInt(id)));
  return {
    newest: async () => BigInt(stored().at(-1)?.id ?? 0),
    behind: async (after, most) =>
      stored()
        .filter(({ id }) => BigInt(id) > after)
        .slice(0, most),
    among: async (asked) => stored().filter(({ id }) => asked.includes(BigInt(id))),
    unsettled: async (upTo) => {
      const has = numbers();
      return Array.from({ length: Number(upTo) }, (_, at) => BigInt(at + 1)).filter((n) => !has.has(n));
    },
  };
}
