import { NoAnswerError } from './http.ts';

export interface Page {
  limit?: number;
  offset?: number;
}

/** The link to the next page, also among other links: a proxy may add its own. */
const NEXT = /<([^<>]*)>\s*;\s*rel="?next"?/i;

/**
 * The next page of a list, from the `Link` header of an answer; null where the list ends. Only the numbers of its
 * target are used: the token is never sent to an address that a service names.
 * @throws NoAnswerError where there is a next page and its offset cannot be read.
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

/** The rows that a service answered. @throws NoAnswerError where they are no list of objects */
export function listed<Row>(rows: Row[]): Row[] {
  if (!Array.isArray(rows) || !rows.every((row) => typeof row === 'object' && row !== null))
    throw new NoAnswerError('the service answered no list');
  return rows;
}
