import type { AgentPost, PostKind } from '../../../schemas/responses/coin/posts.ts';
import type { ModelRef } from '../../../schemas/responses/parts.ts';
import type { Queries, Transaction } from '../../postgres/port.ts';

/** SQL of a time in the one form in which times are served. */
export const iso = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** SQL of an id that sorts as text as it does as a number. */
export const shownId = `lpad(id::text, 19, '0')`;

/** SQL of a text as JSON: from a plain text the embedded engine drops a byte order mark at its beginning. */
export const json = (column: string) => `to_json(${column})::text AS ${column}`;

export const fromJson = <Text extends string | null>(text: Text): Text =>
  text === null ? text : (JSON.parse(text) as Text);

/** The number that a shown id stands for, as text; null where the text is no id. */
export function readId(text: string): string | null {
  return /^\d{19}$/.test(text) && BigInt(text) < 2n ** 63n ? BigInt(text).toString() : null;
}

const POST = `${shownId} AS id, mint, agent, model::text AS model, kind,
  ${json('text')}, ${json('venue')}, ${json('ref')}, ${iso('created_at')} AS created_at`;

interface PostRow {
  id: string;
  mint: string;
  agent: string;
  model: string;
  kind: PostKind;
  text: string;
  venue: string | null;
  ref: string | null;
  created_at: string;
}

function postOf({ created_at, model, ...row }: PostRow): AgentPost {
  const { id, mint, agent, kind } = row;
  return {
    id,
    mint,
    agent,
    model: JSON.parse(model) as ModelRef,
    kind,
    text: fromJson(row.text),
    venue: fromJson(row.venue),
    ref: fromJson(row.ref),
    createdAt: created_at,
  };
}

export type NewPost = Omit<AgentPost, 'id' | 'createdAt'>;

/** @param now the database's time, from `takeTurn`. */
export async function insertPost(tx: Transaction, post: NewPost, now: string): Promise<AgentPost> {
  const { mint, agent, model, kind, text, venue, ref } = post;
  const [row] = await tx.query<PostRow>(
    `INSERT INTO posts (mint, agent, model, kind, text, venue, ref, created_at)
     VALUES ($1, $2, $3::text::json, $4, $5, $6, $7, $8::timestamptz) RETURNING ${POST}`,
    [mint, agent, JSON.stringify(model), kind, text, venue, ref, now],
  );
  return postOf(row as PostRow);
}

/** Posts of all mints with a number above `after`, oldest first. */
export async function postsBehind(db: Queries, after: bigint, most: number): Promise<AgentPost[]> {
  const rows = await db.query<PostRow>(
    `SELECT ${POST} FROM posts WHERE posts.id > $1::text::bigint ORDER BY posts.id LIMIT $2::text::int`,
    [after.toString(), String(most)],
  );
  return rows.map(postOf);
}

/** Those of these numbers that posts have, oldest first. */
export async function postsAmong(db: Queries, numbers: readonly bigint[]): Promise<AgentPost[]> {
  const rows = await db.query<PostRow>(
    `SELECT ${POST} FROM posts WHERE posts.id = ANY ($1::text[]::bigint[]) ORDER BY posts.id`,
    [numbers.map(String)],
  );
  return rows.map(postOf);
}

/** As far back as writers are looked for that have a number and have not committed. */
const UNSETTLED = 10_000;

/**
 * Numbers up to `upTo` that no post has, of the last two minutes: behind the newest post that is older, every writer
 * has ended.
 */
export async function unsettledNumbers(db: Queries, upTo: bigint): Promise<bigint[]> {
  const rows = await db.query<{ number: string }>(
    `SELECT number::text AS number FROM generate_series(
       1 + greatest(0, $1::text::bigint - ${UNSETTLED}, (
         SELECT posts.id FROM posts
         WHERE posts.id <= $1::text::bigint AND created_at < now() - interval '2 minutes'
         ORDER BY posts.id DESC LIMIT 1)),
       $1::text::bigint) AS number
     WHERE NOT EXISTS (SELECT 1 FROM posts WHERE posts.id = number) ORDER BY number.number`,
    [upTo.toString()],
  );
  return rows.map(({ number }) => BigInt(number));
}

/** The number of the newest post; 0 before the first. */
export async function newestPost(db: Queries): Promise<bigint> {
  const [row] = await db.query<{ id: string }>(
    'SELECT coalesce(max(posts.id), 0)::text AS id FROM posts',
    [],
  );
  return BigInt(row?.id ?? 0);
}

/**
 * Newest first. `total` counts all posts of the mint, in the same statement: a post between two statements would be
 * counted and be on no page. The ids are found first, in the index alone: Postgres computes the selected columns of
 * skipped rows too, and there may be many.
 */
export async function postsOf(db: Queries, mint: string, limit: number, offset: number) {
  const rows = await db.query<{ total: string } & (PostRow | { id: null })>(
    `SELECT counted.total, page.*
     FROM (SELECT count(*)::text AS total FROM posts WHERE mint = $1) AS counted
     LEFT JOIN (
       SELECT ${POST} FROM posts
       WHERE posts.id = ANY (ARRAY(
         SELECT of_mint.id FROM posts AS of_mint WHERE of_mint.mint = $1
         ORDER BY of_mint.id DESC LIMIT $2::text::int OFFSET $3::text::int))
     ) AS page ON true
     ORDER BY page.id DESC`,
    [mint, String(limit), String(offset)],
  );
  const posts = rows.flatMap((row) => (row.id === null ? [] : [postOf(row)]));
  return { total: Number(rows[0]?.total ?? 0), posts };
}
