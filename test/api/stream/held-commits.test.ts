import { expect, test } from 'vitest';
import { numberedPosts } from '../../../api/agent/posts/feed.ts';
import { insertPost } from '../../../api/agent/posts/store.ts';
import type { Transaction } from '../../../api/postgres/port.ts';
import { createPostFeed } from '../../../api/stream/posts.ts';
import { ENGINES, freshDb } from '../agent/support/postgres.ts';

const MODEL = { id: 1, name: 'm', provider: 'p', enabled: true };
const write = (tx: Transaction, text: string, at = new Date().toISOString()) =>
  insertPost(tx, { mint: 'm', agent: 'a', model: MODEL, kind: 'update', text, venue: null, ref: null }, at);

test('a post whose commit is held while 150 more are written is sent, also by a process that began meanwhile', async () => {
  const { db, close } = await freshDb('Postgres');
  const feed = createPostFeed(numberedPosts(db));
  await feed.begin();
  const written = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const held = db.transaction(async (tx) => {
    await write(tx, 'held');
    written.resolve();
    await release.promise;
  });
  await written.promise;
  for (let n = 0; n < 150; n += 1) await db.transaction((tx) => write(tx, `${n}`));
  expect(await feed.news()).toHaveLength(150);
  const beside = createPostFeed(numberedPosts(db));
  await beside.begin();
  release.resolve();
  await held;
  for (const one of [feed, beside]) expect((await one.news()).map(({ post }) => post.text)).toEqual(['held']);
  await close();
});

test.each(ENGINES)(
  'numbers that no post has count as unsettled only above the newest post of two minutes ago, over %s',
  async (engine) => {
    const { db, close } = await freshDb(engine);
    const long = new Date(Date.now() - 600_000).toISOString();
    const skip = async () => {
      const lost = db.transaction(async (tx) => {
        await write(tx, 'lost');
        throw new Error('lost');
      });
      await expect(lost).rejects.toThrow('lost');
    };
    const { unsettled, among, newest } = numberedPosts(db);
    expect(await unsettled(await newest())).toEqual([]);
    await skip();
    await db.transaction((tx) => write(tx, 'two'));
    await skip();
    await db.transaction((tx) => write(tx, 'four'));
    expect(await unsettled(await newest())).toEqual([1n, 3n]);
    expect(await unsettled(2n)).toEqual([1n]);
    await db.query('UPDATE posts SET created_at = $1::timestamptz WHERE id = 2', [long]);
    expect(await unsettled(await newest())).toEqual([3n]);
    expect((await among([4n, 3n, 2n])).map(({ text }) => text)).toEqual(['two', 'four']);
    await close();
  },
);
