import { describe, expect, test } from 'vitest';
import { appliedRow, key, policyRow } from './support/rows.ts';
import { useApi } from './support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
});

describe('shared answers', () => {
  test('an unchanged answer is 304 to a client that has it', async () => {
    const path = `/coins/${key('coin')}`;
    const etag = (await held.api.get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await held.api.get(path, { 'if-none-match': `"other", W/${etag}` });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect((await held.api.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('one question is asked once while nothing is applied, in whatever way it is put', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0, { log_offset: '77' })]);
    const before = held.api.queries('FROM origins');
    await Promise.all(Array.from({ length: 20 }, () => held.api.get('/origins')));
    await held.api.get('/origins?unknown=1');
    expect(held.api.queries('FROM origins') - before).toBe(1);
    await held.api.insert('applied', [appliedRow('transactions', 0, { log_offset: '78' })]);
    await held.api.get('/origins');
    expect(held.api.queries('FROM origins') - before).toBe(2);
  });

  test('a 404 is shared too', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0, { log_offset: '79' })]);
    const before = held.api.queries('FROM policies');
    for (let count = 0; count < 5; count += 1) await held.api.get(`/coins/${key('nobody')}`);
    expect(held.api.queries('FROM policies') - before).toBe(1);
  });
});
