import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PostPosition } from '../../../api/stream/position.ts';
import { createPostFeed } from '../../../api/stream/posts.ts';
import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';
import { numberedPostsOf } from './support/numbered-posts.ts';

const SEED = Number(process.env.SEED ?? 20_261_126);

const post = (number: number, createdAt = '2026-01-01T00:00:00.000Z') =>
  ({ id: String(number), mint: 'm', createdAt }) as AgentPost;

test.each([
  ['close by', 3, 12],
  // Some of them more than a hundred numbers behind the newest.
  ['far apart', 80, 320],
])(
  'a client cut off at any point has all posts after it returns, or gets a gap: %s',
  async (_, step, span) => {
    // A skipped number belongs to a writer that commits later, or never.
    const looks = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: span }), { maxLength: 4 }), {
      minLength: 2,
    });
    await fc.assert(
      fc.asyncProperty(looks, async (drawn) => {
        let stored: AgentPost[] = [];
        const feed = createPostFeed(numberedPostsOf(() => stored));
        await feed.begin();
        const told: { id: string; position: PostPosition }[] = [];
        for (const [look, numbers] of drawn.entries()) {
          const known = new Set(stored.map(({ id }) => id));
          const more = numbers.map((number) => post(step * look + number)).filter(({ id }) => !known.has(id));
          stored = [...stored, ...more].toSorted((a, b) => Number(a.id) - Number(b.id));
          told.push(...(await feed.news()).map((one) => ({ id: one.post.id, position: one.position })));
          const until = feed.tip();
          if (until === null) throw new Error('it has not begun');
          for (let upTo = 0; upTo < told.length; upTo += 1) {
            const missed = await feed.missed(told[upTo]?.position ?? until, until, null);
            if (missed === null) continue;
            const has = [...told.slice(0, upTo + 1), ...missed.map((one) => one.post)].map(({ id }) => id);
            expect(new Set(has)).toEqual(new Set(stored.map(({ id }) => id)));
          }
          // Numbers stay open to the end here: further apart, the last id may be a gap, too.
          const back = await feed.missed(told.at(-1)?.position ?? until, until, null);
          expect(span > 100 ? (back ?? []) : back).toEqual([]);
          expect(told.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual(
            stored.map(({ id }) => Number(id)),
          );
        }
      }),
      { seed: SEED },
    );
  },
);

const posts = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => post(from + at));
const idsOf = (fresh: readonly { post: AgentPost }[] | null) => fresh?.map(({ post: { id } }) => id);

test('a post that commits after any number of higher ones is sent, and is a gap for a returning client', async () => {
  for (const higher of [99, 100, 5_000]) {
    let stored = [post(1)];
    const feed = createPostFeed(numberedPostsOf(() => stored));
    await feed.begin();
    for (let to = 2; to < 2 + higher; to += 500) {
      stored = [post(1), ...posts(3, Math.min(to + 500, 2 + higher))];
      await feed.news();
    }
    const before = feed.tip();
    stored = [post(1), post(2), ...stored.slice(1)];
    expect(idsOf(await feed.news()), `${higher}`).toEqual(['2']);
    const until = feed.tip();
    if (before === null || until === null) throw new Error('it has not begun');
    expect(await feed.missed(before, until, null)).toBeNull();
    expect(await feed.missed(until, until, null)).toEqual([]);
  }
});

test('a number that was open when a process began is looked for, and its ids are a gap to every process until then', async () => {
  let stored = [post(1), ...posts(3, 300)];
  const [feed, other] = [1, 2].map(() => createPostFeed(numberedPostsOf(() => stored)));
  if (feed === undefined || other === undefined) throw new Error('there are two');
  await feed.begin();
  const begun = feed.tip();
  stored = [...posts(1, 300)];
  await other.begin();
  expect(idsOf(await feed.news())).toEqual(['2']);
  if (begun === null) throw new Error('it has not begun');
  expect(await other.missed(begun, begun, null)).toBeNull();
});

test('a number that nobody takes is given up after a minute, and a jump of numbers costs bounded work', async () => {
  let stored = [post(1), post(3)];
  let now = 0;
  const asked: number[] = [];
  const numbered = numberedPostsOf(() => stored);
  const among = (numbers: readonly bigint[]) => {
    asked.push(numbers.length);
    return numbered.among(numbers);
  };
  const feed = createPostFeed({ ...numbered, among }, () => now);
  await feed.begin();
  stored = [...stored, ...posts(4, 300), post(1_000_000_000)];
  await feed.news();
  const open = feed.tip();
  stored = [...stored, ...posts(1_000_000_001, 1_000_000_200)];
  await feed.news();
  await feed.news();
  expect(Math.max(...asked)).toBeLessThanOrEqual(1_000);
  const jumped = feed.tip();
  now += 60_000;
  // The last look for them.
  await feed.news();
  const until = feed.tip();
  asked.length = 0;
  await feed.news();
  expect(asked).toEqual([]);
  if (open === null || jumped === null || until === null) throw new Error('it has not begun');
  expect(await feed.missed(jumped, until, null)).toBeNull();
  expect(await feed.missed(until, until, null)).toEqual([]);
});

test('an id whose post is gone, or another one now, is a gap after an older dump was restored', async () => {
  let stored = posts(1, 303);
  const [feed, other] = [1, 2].map(() => createPostFeed(numberedPostsOf(() => stored)));
  if (feed === undefined || other === undefined) throw new Error('there are two');
  await feed.begin();
  const since = feed.tip();
  if (since === null) throw new Error('it has not begun');
  const [id, recent] = [since.id, since.recent];
  const later = (from: number, to: number) =>
    posts(from, to).map((one) => ({ ...one, createdAt: '2026-01-02T00:00:00.000Z' }));
  const missedBy = async (position: typeof since) => {
    await other.begin();
    return idsOf(await other.missed(position, other.tip() ?? position, null));
  };
  // The dump is of 300 posts, and as many posts as were lost, and more, have their numbers.
  stored = [...posts(1, 300), ...later(301, 306)];
  expect(await missedBy(since)).toBeUndefined();
  // A sequence that goes on further up.
  stored = [...posts(1, 300), ...later(301, 302), ...later(400, 402)];
  expect(await missedBy({ ...since, recent: 99 })).toBeUndefined();
  stored = [...posts(1, 303), ...later(304, 305)];
  expect(await missedBy(since)).toEqual(['304', '305']);
  // An id of a version that did not say when its post was made.
  expect(await missedBy({ id, recent })).toEqual(['304', '305']);
});
