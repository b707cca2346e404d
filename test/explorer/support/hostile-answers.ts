import type { APIResponse, Page, Route } from 'playwright-core';
import type { CoinHistoryResponse } from '../../../schemas/responses/history.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';

/** Texts for links that somebody may be sent: markup, direction marks, hidden characters, names all objects have. */
const IN_ADDRESSES = [
  '"></script><script>globalThis.harmed = 1</script><b onmouseover="globalThis.harmed = 1">bold</b>',
  '\u202egnp.exe\u2066 \u0000\u0007\u001b[2J\u200b\u00ad',
  '__proto__',
  'constructor',
];

/** Texts that strangers might write; each closes the markup that it might stand in. */
const WORDS = [
  ...IN_ADDRESSES,
  '<img src="https://elsewhere.example/x.png" onerror="globalThis.harmed = 1">',
  'javascript:globalThis.harmed=1',
  "' onfocus='globalThis.harmed=1' autofocus='",
  'https://elsewhere.example/a?b=<svg onload=globalThis.harmed=1>',
];

/** The fields of answers whose text comes from tokens, agents, catalogues and venues. */
const FIELDS =
  /^(name|symbol|mintName|mintSymbol|quoteSymbol|symbolSource|\w*AbsentReason|text|ref|venue|reason|error|provider|uri|image|\w+Url|category|by|source)$/;

/** Links to any of the pages that somebody may be sent. */
export const hostileAddresses = (): string[] =>
  IN_ADDRESSES.map(encodeURIComponent).flatMap((word) => [
    `/explorer/coins/${word}`,
    `/explorer/?search=${word}&quote=${word}&mode=${word}&sort=${word}`,
    `/explorer/protocol?quote=${word}&range=${word}`,
  ]);

/** The same answer with hostile texts in all of FIELDS. */
function altered(value: unknown, count: { at: number }): unknown {
  if (Array.isArray(value)) return value.map((entry) => altered(entry, count));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, inner]) => {
    if (!FIELDS.test(name) || (typeof inner !== 'string' && inner !== null))
      return [name, altered(inner, count)];
    count.at += 1;
    // Where `reason` is null the figure is there: leave it so.
    return [
      name,
      inner === null && name === 'reason' ? null : `${WORDS[count.at % WORDS.length]} ${count.at}`,
    ];
  });
  return Object.fromEntries(fields);
}

export const isApi = ({ pathname }: URL) =>
  !pathname.startsWith('/explorer/') || pathname === '/explorer/decimals';

/** The API's answer; null where a very busy machine refuses, which the page is given as it is: it asks again. */
async function answerTo(route: Route): Promise<APIResponse | null> {
  const response = await route.fetch({ timeout: PATIENCE_MS });
  if (response.ok()) return response;
  await route.fulfill({ response });
  return null;
}

/** From now on every answer of the API is hostile, and so are the events of its streams. */
export async function makeHostile(page: Page): Promise<void> {
  const count = { at: 0 };
  await page.route(isApi, async (route: Route) => {
    const { pathname, search, origin } = new URL(route.request().url());
    const stream = STREAMED.find(([path]) => path === pathname);
    if (stream === undefined) {
      const response = await answerTo(route);
      if (response === null) return;
      return route.fulfill({ response, json: altered(await response.json(), count) });
    }
    const answer = await awaited(async () => {
      const got = await fetch(`${origin}${stream[1]}${search}`);
      if (!got.ok) throw new Error(`refused with ${got.status}`);
      return got.json();
    });
    const told = [
      ...stream[2].map((event) => [event, altered(answer, count)] as const),
      ['gap', altered({ reason: '', read: 'javascript:globalThis.harmed=1' }, count)] as const,
    ];
    return route.fulfill({
      contentType: 'text/event-stream',
      body: `retry: 600000\n\n${told.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('')}`,
    });
  });
}

/** Streams: the answer whose items they send, and as which events. */
const STREAMED: readonly [path: string, from: string, events: readonly string[]][] = [
  ['/stream/rankings', '/rankings', ['ranking']],
  ['/stream/activity', '/rankings', ['activity', 'post']],
];

/** From now on the API answers as if its store were gone. */
export const loseStore = (page: Page): Promise<unknown> =>
  page.route(isApi, (route) =>
    isStream(route)
      ? silent(route)
      : route.fulfill({
          status: 500,
          json: { error: 'internal error', detail: 'the store does not answer' },
        }),
  );

const isStream = (route: Route) => new URL(route.request().url()).pathname.startsWith('/stream/');

const silent = (route: Route) =>
  route.fulfill({ contentType: 'text/event-stream', body: 'retry: 600000\n\n' });

/** Where hostile texts took effect, or stand in the page unmarked. */
export const harm = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(String.raw`(() => {
    const found = [];
    if (globalThis.harmed !== undefined) found.push('a script ran');
    for (const element of document.querySelectorAll('body img, body script, body svg, body iframe, body style'))
      found.push('markup: ' + element.outerHTML);
    for (const link of document.querySelectorAll('a'))
      if (new URL(link.href).origin !== location.origin) found.push('link: ' + link.href);
    const turning = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      if (turning.test(walker.currentNode.data)) found.push('text: ' + walker.currentNode.parentElement.outerHTML);
    for (const element of document.querySelectorAll('*'))
      for (const { name, value } of element.attributes) {
        // What a field or a choice stands for is shown by its text.
        if (turning.test(value) && name !== 'value') found.push('attribute ' + name + ': ' + escape(value));
        if (name.startsWith('on')) found.push('attribute ' + name);
      }
    if (turning.test(document.title)) found.push('title: ' + escape(document.title));
    return found;
  })()`);

/** From now on a policy's activity has so many rows: its newest event, repeated. */
export async function lengthenActivity(page: Page, rows: number): Promise<void> {
  let newest: { items: object[] } | undefined;
  await page.route(/\/coins\/\w+\/activity\?/, async (route: Route) => {
    if (newest === undefined) {
      const response = await answerTo(route);
      if (response === null) return;
      newest = (await response.json()) as { items: object[] };
    }
    const answer = newest;
    const offset = Number(new URL(route.request().url()).searchParams.get('offset') ?? 0);
    const length = Math.max(0, Math.min(PAGE, rows - offset));
    const items = Array.from({ length }, (_, at) => ({
      ...answer.items[0],
      signature: `row ${offset + at}`,
    }));
    return route.fulfill({ json: { ...answer, items } });
  });
}

/** From now on an agent's newest post is there so many times. */
export const multiplyPosts = (page: Page, count: number): Promise<unknown> =>
  page.route(/\/coins\/\w+\/posts\?/, async (route: Route) => {
    const response = await answerTo(route);
    if (response === null) return;
    const { posts, ...rest } = (await response.json()) as { posts: object[] };
    const many = Array.from({ length: count }, (_, at) => ({ ...posts[0], id: `post ${at}` }));
    return route.fulfill({ json: { ...rest, posts: many, total: count } });
  });

/** From now on nothing of a policy's past is known. */
export const forgetPast = (page: Page, reason: string): Promise<unknown> =>
  page.route(/\/coins\/\w+\/history\?/, async (route: Route) => {
    const response = await answerTo(route);
    if (response === null) return;
    const answer = (await response.json()) as CoinHistoryResponse;
    const bankroll = { value: null, source: 'chain', asOf: null, absent: true, reason };
    return route.fulfill({ json: { ...answer, items: answer.items.map((item) => ({ ...item, bankroll })) } });
  });

/** From now on no ranking has a row. */
export const emptyRankings = (page: Page): Promise<unknown> =>
  page.route(/\/rankings\?/, async (route: Route) => {
    if (isStream(route)) return silent(route);
    const response = await answerTo(route);
    if (response === null) return;
    return route.fulfill({ json: { ...(await response.json()), items: [], total: 0, hasMore: false } });
  });

/** Rows that come at once: as many as the page asks for, or more. */
const PAGE = 2_000;

/** From now on only so many requests to the API are answered; the others stay open, and so do all streams. */
export async function answerOnly(page: Page, most: number): Promise<void> {
  let answered = 0;
  await page.route(isApi, async (route) => {
    if (isStream(route) || answered >= most) return;
    answered += 1;
    const response = await answerTo(route);
    if (response !== null) return route.fulfill({ response });
    answered -= 1;
  });
}
