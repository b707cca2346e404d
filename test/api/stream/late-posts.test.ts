import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPostFeed } from '../../../api/stream/posts.ts';
import type { AgentPost } from '../../../schemas/responses/coin/posts.ts';

const SEED = Number(process.env.SEED ?? 20_261_126);

const post = (number: number) => ({ id: String(number), mint: 'm' }) as AgentPost;

test('a client cut off at any point has all posts after it returns, or gets a gap', async () => {
  // A skipped number belongs to a writer that commits later, or never.
  const looks = fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 4 }), { minLength: 2 });
  await fc.assert(
    fc.asyncProperty(looks, async (drawn) => {
      let stored: AgentPost[] = [];
      const feed = createPostFeed({
        newest: async () => BigInt(stored.at(-1)?.id ?? 0),
        behind: async (id, most) => stored.filter((one) => BigInt(one.id) > id).slice(0, most),
      });
      await feed.begin();
      const told: { id: string; position: { id: bigint; recent: number } }[] = [];
      for (const [look, numbers] of drawn.entries()) {
        const known = new Set(stored.map(({ id }) => id));
        const more = numbers.map((number) => post(3 * look + number)).filter(({ id }) => !known.has(id));
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
        expect(await feed.missed(told.at(-1)?.position ?? until, until, null)).toEqual([]);
      }
    }),
    { seed: SEED },
  );
});
