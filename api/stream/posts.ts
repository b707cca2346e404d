import type { AgentPost } from '../../schemas/responses/coin/posts.ts';
import type { NumberedPosts } from '../deps/posts.ts';
import { createOpenNumbers, lackedBy } from './open-numbers.ts';
import { type PostPosition, WINDOW_POSTS } from './position.ts';
import { recentIn } from './recent.ts';

/** A post, and the position of a client that has it. */
export interface FreshPost {
  position: PostPosition;
  post: AgentPost;
}

export interface PostFeed {
  begin(): Promise<void>;
  /** Null before the feed has begun, where it could not begin again, and where posts that it had sent are gone. */
  tip(): PostPosition | null;
  /** What is new since the last call; nothing where the feed begins only now. */
  news(): Promise<FreshPost[]>;
  /** What a client missed up to the position given; null where that cannot be sent post by post. */
  missed(since: PostPosition, until: PostPosition, mint: string | null): Promise<FreshPost[] | null>;
}

const MOST = 1_000;

/**
 * New posts of all agents: one query a look, for all clients. Two writers may finish in another order than they took
 * their numbers in, so the last numbers are looked at again each time; those further back that are open, with a query
 * of their own.
 * @param clock monotonic milliseconds
 */
export function createPostFeed(
  posts: NumberedPosts,
  clock: () => number = () => performance.now(),
): PostFeed {
  const open = createOpenNumbers(clock);
  let known: AgentPost[] | null = null;
  let tip: PostPosition = { id: 0n, recent: 0 };

  const read = async (from: bigint) => {
    const rows = await posts.behind(from, MOST + Number(WINDOW_POSTS));
    const id = rows.length === 0 ? from : numberOf(rows.at(-1) as AgentPost);
    return { rows, id };
  };
  const begin = async () => {
    known = null;
    const newest = await posts.newest();
    const unsettled = await posts.unsettled(newest);
    const { rows } = await read(windowBefore(newest));
    open.clear();
    open.note(unsettled);
    open.note(lackedBy(rows.map(numberOf), newest));
    known = rows;
    const id = rows.length === 0 ? newest : numberOf(rows.at(-1) as AgentPost);
    tip = positionAt(rows, open.lowest())(id);
  };
  return {
    begin,
    tip: () => (known === null ? null : tip),
    news: async () => {
      if (known === null) {
        await begin();
        return [];
      }
      const before = tip;
      const had = new Set(known.map(({ id }) => id));
      const lookedAt = clock();
      const further = open.upTo(windowBefore(before.id));
      const late = further.length === 0 ? [] : await posts.among(further);
      const { rows } = await read(windowBefore(before.id));
      if (!hasAll(rows, known, windowBefore(before.id))) {
        // Postgres was put back to an older dump, and gives the same numbers again: the feed begins anew from there.
        known = null;
        return [];
      }
      known = rows;
      const numbers = rows.map(numberOf);
      open.settle([...late.map(numberOf), ...numbers], lookedAt);
      open.note(lackedBy(numbers, before.id));
      const at = positionAt(rows, open.lowest());
      tip = at(numbers.at(-1) ?? before.id);
      return inOrder([...late, ...rows.filter((post) => !had.has(post.id))], at, before);
    },
    missed: async (since, until, mint) => {
      if (since.id > until.id) return null;
      // Before the posts are read: what is open no longer is among them, or sent to listeners.
      const lowest = open.lowest();
      const { rows } = await read(windowBefore(since.id));
      if (recentOf(rows)(since.id) !== since.recent || rows.length > MOST) return null;
      const last = rows.find((post) => numberOf(post) === since.id);
      // Postgres was put back to an older dump since: the client has posts that are gone.
      if (last === undefined ? since.id > 0n : madeAt(last) !== (since.made ?? madeAt(last))) return null;
      const fresh = rows.filter((post) => numberOf(post) > since.id && numberOf(post) <= until.id);
      return inOrder(fresh, positionAt(rows, lowest), since).filter(
        ({ post }) => mint === null || post.mint === mint,
      );
    },
  };
}

const numberOf = ({ id }: AgentPost) => BigInt(id);
const madeAt = ({ createdAt }: AgentPost) => Date.parse(createdAt);
const windowBefore = (id: bigint) => (id > WINDOW_POSTS ? id - WINDOW_POSTS : 0n);

const recentOf = (rows: readonly AgentPost[]) => recentIn(rows.map(numberOf), WINDOW_POSTS);

/** @param lowest of the open numbers */
const positionAt = (rows: readonly AgentPost[], lowest: bigint | null) => {
  const recent = recentOf(rows);
  const mayLack = (id: bigint) => lowest !== null && lowest <= windowBefore(id);
  const made = new Map(rows.map((post) => [numberOf(post), { made: madeAt(post) }]));
  return (id: bigint): PostPosition => ({ id, recent: mayLack(id) ? 0 : recent(id), ...made.get(id) });
};

/** Whether the posts behind a number are among the rows, unchanged: no post is ever changed, or taken back. */
function hasAll(rows: readonly AgentPost[], before: readonly AgentPost[], behind: bigint): boolean {
  const now = new Map(rows.map((post) => [post.id, post]));
  return before.every((post) => {
    const found = now.get(post.id);
    if (found === undefined) return numberOf(post) <= behind;
    return found.mint === post.mint && found.createdAt === post.createdAt && found.text === post.text;
  });
}

/**
 * Posts that came late, when a higher number was sent already, stand first: a client that has a new one has them too,
 * wherever it is cut off.
 */
function inOrder(
  fresh: readonly AgentPost[],
  at: (id: bigint) => PostPosition,
  before: PostPosition,
): FreshPost[] {
  const late = fresh.filter((post) => numberOf(post) <= before.id);
  const next = fresh.filter((post) => numberOf(post) > before.id);
  return [
    // Only with the last of them has a client all posts that the count of the position stands for.
    ...late.map((post, place) => ({ post, position: place === late.length - 1 ? at(before.id) : before })),
    ...next.map((post) => ({ post, position: at(numberOf(post)) })),
  ];
}
