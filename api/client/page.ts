import { NoAnswerError } from './http.ts';

export interface Page {
  limit?: number;
  offset?: number;
}

/** Among other links: a proxy may add its own. */
const NEXT = /<([^<>]*)>\s*;\s*rel="?next"?/i;

/**
 * Where a list goes on behind a page, by the `Link` of its answer; null where it ends. Of its target the numbers alone
 * are taken: a token goes nowhere that a service names.
 * @throws NoAnswerError where it goes on and nobody can read where.
 */
export function nextPage(link: string | null): Page | null {
  const target = NEXT.exec(link ?? '')?.[1];
  if (target === undefined) return null;
  const query = new URLSearchParams(target.slice(target.indexOf('?') + 1));
  const [limit, offset] = ['limit', 'offset'].map((name) => numberOf(query.get(name)));
  if (offset == null) throw new NoAnswerError('the service named no page that the list goes on with');
  return limit == null ? { offset } : { limit, offset };
}

const numberOf = (text: string | null): number | null =>
  text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

/** What a service calls a list. @throws NoAnswerError where it is none */
export function listed<Row>(rows: Row[]): Row[] {
  if (!Array.isArray(rows) || !rows.every((row) => typeof row === 'object' && row !== null))
    throw new NoAnswerError('the service answered no list');
  return rows;
}
