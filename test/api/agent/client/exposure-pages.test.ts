import { describe, expect, test } from 'vitest';
import { createClient } from '../../../../api/client/client.ts';
import { type ExposuresPage, everyExposure } from '../../../../api/client/exposures.ts';
import { nextPage, type Page } from '../../../../api/client/page.ts';
import type { Exposure } from '../../../../schemas/responses/agent.ts';
import { serveAnswers } from '../../../support/answering.ts';

describe('the pages of a list of exposures', () => {
  test.each([
    ['</positions?status=all&limit=200&offset=400>; rel="next"', { limit: 200, offset: 400 }],
    ['<?status=all&offset=7>; rel="next"', { offset: 7 }],
    ['</style.css?offset=1>; rel="preload", <?limit=2&offset=4>; rel="next"', { limit: 2, offset: 4 }],
    ['</style.css?offset=1>; rel="preload"', null],
    ['', null],
    [null, null],
  ])('continue where the Link header says, or end without a next link: %s', (link, page) => {
    expect(nextPage(link)).toEqual(page);
  });

  test.each(['<?offset=-1>; rel="next"', '<?offset=1e3>; rel="next"', '<>; rel="next"'])(
    'do not end at a malformed next link, which is an error: %s',
    (link) => {
      expect(() => nextPage(link)).toThrow(/named no page/);
    },
  );

  test('are requested from the service itself, even if a next link names another host', async () => {
    const elsewhere = await serveAnswers(() => ({ body: { items: [] } }));
    const service = await serveAnswers(({ query }) => ({
      headers: query.has('offset') ? {} : { Link: `<${elsewhere.url}/x?status=held&offset=1>; rel="next"` },
      body: { items: [{ positionId: query.get('offset') ?? '0' }] },
    }));
    const client = createClient({ url: service.url });
    const rows = await idsOf((page) => client.exposures('a token', 'all', page));
    expect(rows).toEqual(['0', '1']);
    expect(service.asked.map(({ query }) => query.get('status'))).toEqual(['all', 'all']);
    expect(elsewhere.asked).toEqual([]);
    await Promise.all([service.close(), elsewhere.close()]);
  });

  const page = (ids: string[], next: Page | null): ExposuresPage => ({
    ...{ mint: 'm', status: 'all', next },
    items: ids.map((positionId) => ({ positionId }) as Exposure),
  });
  async function idsOf(read: (page: Page | undefined) => Promise<ExposuresPage>): Promise<string[]> {
    const ids: string[] = [];
    for await (const { positionId } of everyExposure(read)) ids.push(positionId);
    return ids;
  }

  test('yield a row once if it moved from one page to the next, and every row of a short page', async () => {
    const pages = [page(['4', '3'], { offset: 2 }), page(['3'], { offset: 3 }), page(['2', '1'], null)];
    expect(await idsOf(async () => pages.shift() as ExposuresPage)).toEqual(['4', '3', '2', '1']);
  });

  test.each([
    ['names the same page again', () => ({ offset: 2 })],
    ['names a page more each time', (asked: number) => ({ offset: asked + 1 })],
  ])('that do not end, because the service %s, are an error and not a complete list', async (_, next) => {
    const listing = idsOf(async (asked) => page([`${asked?.offset ?? 0}`], next(asked?.offset ?? 0)));
    await expect(listing).rejects.toMatchObject({
      name: 'NoAnswerError',
      message: expect.stringMatching(/pages do not end/),
    });
  });
});
