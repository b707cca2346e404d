import type { Page, Route } from 'playwright-core';
import { PATIENCE_MS } from '../../support/awaited.ts';
import { isApi } from './hostile-answers.ts';

/** A number as a page draws it, and what its panel shows. */
export interface Drawn {
  /** Which row or card it stands in, by its key or its link; empty where its name is enough. */
  scope: string;
  name: string;
  text: string;
  panel: { value: string; rows: Record<string, string> };
}

/** Answers of the API by path and query. */
export type Answers = ReadonlyMap<string, unknown>;

/**
 * From now on each request always has the same answer, and no stream brings another: a page draws what was answered.
 * @param instead makes the given answer from the API's
 */
export async function freeze(
  page: Page,
  instead: (path: string, answer: unknown) => unknown = (_, answer) => answer,
): Promise<Answers> {
  const answers = new Map<string, unknown>();
  const asked = new Map<string, Promise<{ status: number; text: string }>>();
  await page.route(isApi, async (route: Route) => {
    const { pathname, search } = new URL(route.request().url());
    if (pathname.startsWith('/stream/'))
      return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 600000\n\n' });
    const question = `${pathname}${search}`;
    if (!asked.has(question))
      asked.set(
        question,
        route.fetch({ timeout: PATIENCE_MS }).then(async (response) => ({
          ...{ status: response.status(), text: await response.text() },
        })),
      );
    const { status, text } = (await asked.get(question)) as { status: number; text: string };
    // A very busy machine refuses some requests: the page asks again.
    if (status !== 200) {
      asked.delete(question);
      return route.fulfill({ status, contentType: 'application/json', body: text });
    }
    const answer = instead(pathname, JSON.parse(text));
    answers.set(question, answer);
    return route.fulfill({ json: answer });
  });
  return answers;
}

/** Every number of the page but those of charts' tables, each with what its panel shows. */
export const drawnFigures = (page: Page): Promise<Drawn[]> =>
  page.evaluate<Drawn[]>(`(async () => {
    const keyIn = (element) => element?.querySelector('.key')?.title.split(':')[0]
      ?? element?.querySelector('a')?.getAttribute('href') ?? element?.querySelector('h3')?.textContent ?? '';
    const drawn = [];
    for (const figure of document.querySelectorAll('main button.figure')) {
      if (figure.closest('details') !== null) continue;
      const reader = figure.querySelector('.for-readers').textContent;
      // As a pointer does it, one after the other.
      figure.dispatchEvent(new MouseEvent('mouseenter'));
      await new Promise((resolve) => setTimeout(resolve));
      const panel = document.querySelector('.panel:not([hidden])');
      const terms = [...panel.querySelectorAll('dt')].map((term) => [term.textContent, term.nextElementSibling.textContent]);
      drawn.push({
        scope: keyIn(figure.closest('tr, li.venue, .loop > li')),
        name: reader.replace(/: $/, ''),
        text: figure.textContent.slice(reader.length),
        panel: {
          name: panel.querySelector('.panel-name').textContent,
          value: panel.querySelector('.panel-value').textContent.replaceAll(/\\s+/g, ' ').trim(),
          rows: Object.fromEntries(terms),
        },
      });
    }
    return drawn;
  })()`);

/** The panel for a place of the equity chart, and what is in the chart's table. */
interface EquityShown {
  panel: { name: string; value: string; isAbsent: boolean; rows: Record<string, string> } | null;
  /** The numbers of the same time; none where the panel says no time. */
  row: string[];
}

/** @param share of the chart's width. Panel and table are read at the same moment, since the page goes on changing. */
export async function equityAt(page: Page, share: number): Promise<EquityShown> {
  const area = page.locator('.equity .cursor-area');
  await area.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await area.boundingBox()) as Record<
    'x' | 'y' | 'width' | 'height',
    number
  >;
  await page.mouse.move(x + width * share, y + height / 2);
  return page.evaluate<EquityShown>(`(() => {
    const panel = document.querySelector('.panel:not([hidden])');
    if (panel === null) return { panel, row: [] };
    const terms = [...panel.querySelectorAll('dt')].map((term) => [term.textContent, term.nextElementSibling.textContent]);
    const rows = Object.fromEntries(terms);
    const time = (rows.At ?? '').slice(0, 19);
    const row = [...document.querySelectorAll('.equity tbody tr')].find((one) => one.querySelector('th').textContent === time);
    return {
      panel: {
        name: panel.querySelector('.panel-name').textContent,
        value: panel.querySelector('.panel-value').textContent.trim().split(/\\s/)[0],
        isAbsent: panel.querySelector('.panel-value .absent') !== null,
        rows,
      },
      row: [...(row?.querySelectorAll('td') ?? [])].map((cell) => cell.textContent),
    };
  })()`);
}
