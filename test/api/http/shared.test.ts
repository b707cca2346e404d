import { describe, expect, test } from 'vitest';
import { appliedRow, key, policyRow } from '../support/rows.ts';
import { useApi } from '../support/use-api.ts';

const held = useApi(async (api) => {
  await api.insert('policies', [policyRow('coin', 'usd')]);
});

describe('shared answers', () => {
  test('an unchanged answer is 304 for a client that sends its ETag', async () => {
    const path = `/coins/${key('coin')}`;
    const etag = (await held.api.get(path)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await held.api.get(path, { 'if-none-match': `"other", W/${etag}` });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect((await held.api.get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('an unchanged feed of posts, which is not shared, is 304 for a client that sends its ETag', async () => {
    const path = `/coins/${key('coin')}/posts`;
    const first = await held.api.get(path);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const etag = first.headers.get('etag') ?? '';
    expect((await held.api.get(path, { 'if-none-match': etag })).status).toBe(304);
    expect((await held.api.get(`${path}?limit=1`, { 'if-none-match': etag })).status).toBe(200);
  });

  test('requests for one page cause one query until a batch is applied, whatever unknown parameters they have', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0, { log_offset: '77' })]);
    const before = held.api.queries('FROM origins');
    await Promise.all(Array.from({ length: 20 }, () => held.api.get('/origins')));
    await held.api.get('/origins?unknown=1');
    expect(held.api.queries('FROM origins') - before).toBe(1);
    await held.api.insert('applied', [appliedRow('transactions', 0, { log_offset: '78' })]);
    await held.api.get('/origins');
    expect(held.api.queries('FROM origins') - before).toBe(2);
  });

  test('repeated requests for an unknown coin cause at most one query', async () => {
    await held.api.insert('applied', [appliedRow('transactions', 0, { log_offset: '79' })]);
    const ofAddress = () => held.api.queries('WHERE address IN {addresses:Array(String)} AND exists = 1');
    const before = ofAddress();
    for (let count = 0; count < 5; count += 1) await held.api.get(`/coins/${key('nobody')}`);
    // None where all policies have been read by then.
    expect(ofAddress() - before).toBeLessThanOrEqual(1);
  });

  test('a large answer is compressed if the client accepts that, and is 304 for the ETag of any of its forms', async () => {
    const coins = Array.from({ length: 30 }, (_, at) => policyRow(`coin${at}`, 'usd'));
    await held.api.insert('policies', coins);
    const get = (accepted: string, tag?: string) =>
      held.api.get('/rankings?limit=50', {
        'accept-encoding': accepted,
        ...(tag === undefined ? {} : { 'if-none-match': tag }),
      });
    const plain = await get('identity');
    const packed = [await get('br, gzip;q=0.5'), await get('gzip')];
    expect(packed.map(({ headers }) => headers.get('content-encoding'))).toEqual(['br', 'gzip']);
    expect(packed.map(({ text }) => text)).toEqual([plain.text, plain.text]);
    expect(plain.headers.get('content-encoding')).toBe(null);
    const etag = plain.headers.get('etag') ?? '';
    for (const { headers } of packed) expect(headers.get('etag')).toBe(`W/${etag}`);
    for (const accepted of ['identity', 'gzip', 'br', 'br;q=broken'])
      for (const tag of [etag, `W/${etag}`]) {
        const { status, text, headers } = await get(accepted, tag);
        expect([status, text, headers.get('content-encoding')]).toEqual([304, '', null]);
        expect(headers.get('vary')).toBe('Accept-Encoding');
        expect(headers.get('etag')).toBe(['gzip', 'br'].includes(accepted) ? `W/${etag}` : etag);
      }
    expect((await get('br', '"other"')).status).toBe(200);
    const small = await held.api.get('/models', { 'accept-encoding': 'br' });
    expect([small.headers.get('content-encoding'), small.headers.get('vary')]).toEqual([null, null]);
  });
});
