import { describe, expect, test } from 'vitest';
import { readPosts } from '../../../api/agent/posts/feed.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { isoMillis } from '../../../schemas/units.ts';
import { PUBLIC_URL, rowCounts } from './support/agent-api.ts';
import { CALL } from './support/fake-venue.ts';
import { ENGINES } from './support/postgres.ts';
import { useAgentStage } from './support/stage.ts';

const OPEN = { instrument: CALL, direction: 'long', size: '0.50', reason: 'a reason' };

describe.each(ENGINES)('an agent whose API runs on %s', (engine) => {
  const stage = useAgentStage(engine);

  test('gets a challenge whose message names all its terms in printable ASCII, and that stores no row', async () => {
    const { mint, agent } = stage.policy();
    const before = await rowCounts(stage.db);
    const { status, body } = await stage.api.challenge(mint, agent.address);
    expect(status).toBe(200);
    const lines = String(body.message).split('\n');
    expect(lines.slice(0, 5)).toEqual([
      'test-indexer: agent session',
      `URL: ${PUBLIC_URL}`,
      `Mint: ${mint}`,
      `Agent: ${agent.address}`,
      `Nonce: ${body.nonce}`,
    ]);
    expect(lines[6]).toBe(`Expires: ${body.expiresAt}`);
    const issued = Date.parse(String(lines[5]).replace('Issued: ', ''));
    expect(Date.parse(String(body.expiresAt)) - issued).toBe(600_000);
    expect(body.message).toMatch(/^[\x20-\x7e\n]+$/);
    expect(await rowCounts(stage.db)).toEqual(before);
  });

  test.each([
    ['base64', (bytes: Buffer) => bytes.toString('base64')],
    ['base64url', (bytes: Buffer) => bytes.toString('base64url')],
    ['base58', (bytes: Buffer) => encodeBase58(bytes)],
  ])('gets a session of 30 minutes for a signature in %s; its token is not stored', async (_, encode) => {
    const { mint, agent } = stage.policy();
    const { body } = await stage.api.challenge(mint, agent.address);
    const signature = encode(agent.sign(String(body.message)));
    const request = { mint, agent: agent.address, nonce: body.nonce, signature };
    const session = await stage.api.call('POST', 'session', request);
    expect(session.status, session.text).toBe(200);
    expect(session.body.tokenType).toBe('Bearer');
    expect(Buffer.from(String(session.body.token), 'base64url')).toHaveLength(32);
    const minutes = (Date.parse(String(session.body.expiresAt)) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(29);
    expect(minutes).toBeLessThan(31);
    const [row] = await stage.db.query<{ n: string }>(
      'SELECT count(*)::text AS n FROM sessions WHERE position($1 IN token_hash) > 0',
      [String(session.body.token)],
    );
    expect(row?.n).toBe('0');
  });

  test('posts, and the feed shows the posts newest first, each with the policy’s model when it was posted', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const first = await stage.api.call('POST', 'posts', { kind: 'thesis', text: 'up' }, token);
    expect(first.status, first.text).toBe(201);
    expect(first.body).toMatchObject({
      mint,
      agent: agent.address,
      kind: 'thesis',
      text: 'up',
      venue: null,
      ref: null,
      model: { id: 1, name: 'model one', provider: 'a lab', enabled: true },
    });
    stage.rpc.model(3, 'a newer model');
    stage.rpc.policy({ mint, agent: agent.address, modelId: 3 });
    const trade = { kind: 'trade', text: 'bought', venue: 'perp_x', ref: '0xabc' };
    const second = await stage.api.call('POST', 'posts', trade, token);
    const feed = await readPosts(stage.db, mint, 20, 0);
    expect(feed).toEqual({ total: 2, posts: [second.body, first.body] });
    expect(second.body).toMatchObject({ ...trade, model: { id: 3, name: 'a newer model' } });
    expect(String(second.body.id) > String(first.body.id)).toBe(true);
    expect((await readPosts(stage.db, mint, 1, 1)).posts).toEqual([first.body]);
  });

  test('gets its texts back byte for byte: 1000 emoji, byte order marks, attempts to break JSON or SQL', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const texts = [
      '🦊'.repeat(1000),
      `'; DROP TABLE posts; --`,
      '"}\u2028\\\n\r\u0007',
      '$1 %s {{x}} <script>',
      '\ufeffa byte order mark',
      '\ufeff',
    ];
    for (const text of texts) {
      const stored = await stage.api.call('POST', 'posts', { kind: 'idle', text }, token);
      expect(stored.status, stored.text).toBe(201);
      expect(Buffer.from(String(stored.body.text)).equals(Buffer.from(text))).toBe(true);
    }
    const { posts } = await readPosts(stage.db, mint, 100, 0);
    expect(posts.map(({ text }) => text).reverse()).toEqual(texts);
  });

  test.each([2, 3] as const)(
    'opens, lists and releases an exposure, with venue quotes in the format of version %d',
    async (version) => {
      const { mint, agent } = stage.policy();
      const token = await stage.api.login(mint, agent);
      stage.venue.version = version;
      const said = { ...OPEN, optionType: 'call', underlying: 'ETH', strike: 3500 };
      const opened = await stage.api.call('POST', 'options/open', said, token);
      expect(opened.status, opened.text).toBe(201);
      // Not decided by a list, however fresh: the contract and its quote are requested now.
      expect(stage.venue.asked).toEqual(['get_instrument', 'get_ticker']);
      expect(opened.body).toMatchObject({
        ...{
          mint,
          agent: agent.address,
          instrument: CALL,
          underlying: 'ETH',
          optionType: 'C',
          strike: '3500',
        },
        ...{ direction: 'long', size: '0.50', reason: 'a reason', status: 'held' },
        ...{ releasedAt: null, releaseReason: null, releaseQuote: null },
        openQuote: {
          best_bid_price: { value: '118.0', source: 'options_x:get_ticker' },
          delta: { value: '0.55' },
          iv: { value: '0.60' },
          venueTimestamp: '2026-10-01T15:12:06.668Z',
          reference: { side: 'ask', price: { value: '120.5' } },
        },
      });
      stage.venue.ticker = version === 3 ? { a: '118.25' } : { best_ask_price: '118.25' };
      const { positionId } = opened.body;
      const closed = await stage.api.call('POST', 'options/close', { positionId, reason: 'done' }, token);
      expect(closed.status, closed.text).toBe(200);
      expect(closed.body).toMatchObject({
        position: { positionId, status: 'released', releaseReason: 'done', openQuote: opened.body.openQuote },
        markToMark: {
          side: 'ask',
          openPrice: { value: '120.5' },
          releasePrice: { value: '118.25' },
          change: { value: '-2.25', source: 'computed' },
        },
      });
      expect(Object.keys(closed.body.markToMark as object)).not.toContain('absent');
      const list = async (status: string) =>
        (await stage.api.call('GET', `options/positions${status}`, undefined, token)).body;
      expect(await list('')).toEqual({ mint, status: 'held', items: [] });
      expect(await list('?status=closed')).toEqual({
        mint,
        status: 'released',
        items: [closed.body.position],
      });
      const again = await stage.api.call('POST', 'options/open', { ...OPEN, direction: 'short' }, token);
      expect(await list('?status=all')).toEqual({
        mint,
        status: 'all',
        items: [again.body, closed.body.position],
      });
      expect(await list('?status=open')).toMatchObject({ status: 'held', items: [again.body] });
    },
  );

  test('may state the contract’s strike in any decimal notation: it is compared by value', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    for (const [n, strike] of ['+3500', '3500.', '03500.0', '3.5e3', '+.35E4', '35.e2'].entries()) {
      const { status, body } = await stage.api.call(
        'POST',
        'options/open',
        { ...OPEN, instrument: `ETH-${n}`, strike },
        token,
      );
      expect([status, body.strike], strike).toEqual([201, '3500']);
    }
  });

  test('a short is marked at the bid, its change is release minus open, and its size is kept as written', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const said = {
      ...OPEN,
      direction: 'short',
      size: '00.100',
      strike: '3500.00',
      reason: '🦊'.repeat(1000),
    };
    const opened = await stage.api.call('POST', 'options/open', said, token);
    expect(opened.body).toMatchObject({ size: '00.100', strike: '3500', reason: said.reason });
    stage.venue.ticker = { b: '120.25' };
    const request = { positionId: opened.body.positionId, reason: '🦊'.repeat(1000) };
    const closed = await stage.api.call('POST', 'options/close', request, token);
    expect(closed.body).toMatchObject({
      position: { releaseReason: request.reason },
      markToMark: {
        side: 'bid',
        openPrice: { value: '118.0' },
        releasePrice: { value: '120.25' },
        change: { value: '2.25' },
      },
    });
  });

  test('an empty side of the book at open makes price, change and mark-to-market absent with that reason, never zero or the mark price', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    stage.venue.ticker = { a: '0', A: '0' };
    const { body } = await stage.api.call('POST', 'options/open', OPEN, token);
    const reason = `the ask side of the book was empty at ${isoMillis(1_790_867_526_668)}`;
    const none = { value: null, absent: true, asOf: null, reason };
    expect(body.openQuote).toMatchObject({ best_ask_price: none, reference: { side: 'ask', price: none } });
    stage.venue.ticker = {};
    const request = { positionId: body.positionId, reason: 'x' };
    const closed = await stage.api.call('POST', 'options/close', request, token);
    expect(closed.body.markToMark).toMatchObject({
      openPrice: none,
      releasePrice: { value: '120.5' },
      change: none,
      ...{ absent: true, reason },
    });
  });

  test('where neither end has a price, mark-to-market is absent for the reason of the release', async () => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    stage.venue.ticker = { a: '0', A: '0' };
    const { body } = await stage.api.call('POST', 'options/open', OPEN, token);
    stage.venue.instrument = { is_active: false };
    const request = { positionId: body.positionId, reason: 'x' };
    const closed = await stage.api.call('POST', 'options/close', request, token);
    const none = { absent: true, reason: `${CALL} was no longer live at the options venue` };
    expect(closed.body).toMatchObject({
      position: { openQuote: { reference: { price: { absent: true } } } },
      markToMark: { releasePrice: none, change: none, ...none },
    });
  });

  test.each([
    ['no pricing', { option_pricing: null }],
    ['pricing without texts', { option_pricing: { d: null, i: null } }],
  ])('a quote with %s is stored with delta and iv absent, on open and on release', async (_, ticker) => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    stage.venue.ticker = ticker;
    const opened = await stage.api.call('POST', 'options/open', OPEN, token);
    expect(opened.status, opened.text).toBe(201);
    const none = { value: null, absent: true, source: 'options_x:get_ticker', reason: 'the venue gave none' };
    const quote = { mark_price: { value: '119.0' }, delta: none, iv: none };
    expect(opened.body.openQuote).toMatchObject(quote);
    const request = { positionId: opened.body.positionId, reason: 'x' };
    const closed = await stage.api.call('POST', 'options/close', request, token);
    expect(closed.status, closed.text).toBe(200);
    expect(closed.body).toMatchObject({
      position: { releaseQuote: quote },
      markToMark: { change: { value: '0' } },
    });
  });

  test.each([
    ['whose quote cannot be read', { ticker: { M: 5 } }],
    ['whose quote has no time', { ticker: { t: null } }],
    ['for which it answers another one’s quote', { fault: 'another' as const }],
    ['that it describes in a way that cannot be read', { fault: 'poison' as const }],
  ])('while the venue answers badly, a contract %s is released without a quote', async (_, answers) => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const { body } = await stage.api.call('POST', 'options/open', OPEN, token);
    Object.assign(stage.venue, answers);
    const request = { positionId: body.positionId, reason: 'x' };
    const closed = await stage.api.call('POST', 'options/close', request, token);
    expect(closed.status, closed.text).toBe(200);
    const none = { absent: true, reason: `what the options venue answered of ${CALL} could not be read` };
    expect(closed.body).toMatchObject({
      position: {
        status: 'released',
        releaseQuote: { mark_price: none, venueTimestamp: null },
      },
      markToMark: { releasePrice: none, change: none, ...none },
    });
  });

  // The venue may answer -32602 (invalid parameter) for a made-up name too; this one was listed when the row was opened.
  test.each([
    ['get_instrument', 200, -32603],
    ['get_ticker', 400, -32603],
    ['get_ticker', 500, -32603],
    ['get_instrument', 400, -32602],
    ['get_ticker', 200, -32602],
  ] as const)(
    'a contract is released without a quote if %s fails twice with the venue’s own error (HTTP %d, code %d)',
    async (method, refusalStatus, code) => {
      const { mint, agent } = stage.policy();
      const token = await stage.api.login(mint, agent);
      const { body } = await stage.api.call('POST', 'options/open', OPEN, token);
      Object.assign(stage.venue, { error: { method, code }, refusalStatus, asked: [] });
      const request = { positionId: body.positionId, reason: 'x' };
      const closed = await stage.api.call('POST', 'options/close', request, token);
      expect(closed.status, closed.text).toBe(200);
      // Asked twice, as the error may pass: a release without a quote stays without one.
      expect(stage.venue.asked.filter((one) => one === method)).toHaveLength(2);
      const none = { absent: true, reason: `the options venue answered error ${code} of ${CALL}` };
      expect(closed.body).toMatchObject({
        position: { status: 'released', releaseQuote: { mark_price: none } },
        markToMark: { releasePrice: none, change: none, ...none },
      });
    },
  );

  test.each([
    ['is over', { instrument: { is_active: false } }],
    ['the venue has forgotten', { unknown: 'get_instrument' as const }],
    ['has no quote any more', { unknown: 'get_ticker' as const }],
  ])('a contract that %s is released without a quote', async (_, answers) => {
    const { mint, agent } = stage.policy();
    const token = await stage.api.login(mint, agent);
    const { body } = await stage.api.call('POST', 'options/open', OPEN, token);
    Object.assign(stage.venue, answers);
    const request = { positionId: body.positionId, reason: 'expired' };
    const closed = await stage.api.call('POST', 'options/close', request, token);
    expect(closed.status).toBe(200);
    const none = { absent: true, reason: `${CALL} was no longer live at the options venue` };
    expect(closed.body).toMatchObject({
      position: { releaseQuote: { mark_price: none, venueTimestamp: null } },
      markToMark: { openPrice: { value: '120.5' }, releasePrice: none, change: none, ...none },
    });
  });
});
