import type { Exposure, ExposuresResponse } from '../../schemas/responses/agent.ts';
import { NoAnswerError } from './http.ts';
import { listed, type Page } from './page.ts';

export interface ExposuresPage extends ExposuresResponse {
  /** Where the list goes on; null where it ends. */
  next: Page | null;
}

/** Ten million rows, years of the most that an agent may write: a service whose list goes on beyond is given up. */
const MOST_PAGES = 50_000;

/** All rows of a list, one page after another. A row that moves to the next page meanwhile is yielded once. */
export async function* everyExposure(
  read: (page: Page | undefined) => Promise<ExposuresPage>,
): AsyncGenerator<Exposure> {
  const told = new Set<string>();
  let page: Page | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const { items, next }: ExposuresPage = await read(page);
    for (const row of listed(items)) {
      if (told.has(row.positionId)) continue;
      told.add(row.positionId);
      yield row;
    }
    if (next === null) return;
    // A service that cannot page any further names the same page again.
    if ((next.offset ?? 0) <= (page?.offset ?? 0)) break;
    page = next;
  }
  throw new NoAnswerError('the service does not list all exposures: its pages do not end');
}
