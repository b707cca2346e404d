import type { Direction, Exposure, OptionQuote, StatusFilter } from '../../../schemas/responses/agent.ts';
import type { Queries, Transaction } from '../../postgres/port.ts';
import { HELD, roomForExposure } from '../limits/limits.ts';
import { fromJson, iso, json, readId, shownId } from '../posts/store.ts';
import { Refusal } from '../refusal.ts';

const EXPOSURE = `${shownId} AS id, mint, agent, instrument, underlying, option_type, strike, expiry, direction, size,
  ${json('reason')}, status, ${iso('opened_at')} AS opened_at, open_quote::text AS open_quote,
  ${iso('released_at')} AS released_at, ${json('release_reason')}, release_quote::text AS release_quote`;

interface ExposureRow {
  id: string;
  mint: string;
  agent: string;
  instrument: string;
  underlying: string;
  option_type: 'C' | 'P';
  strike: string;
  expiry: string;
  direction: Direction;
  size: string;
  reason: string;
  status: 'held' | 'released';
  opened_at: string;
  open_quote: string;
  released_at: string | null;
  release_reason: string | null;
  release_quote: string | null;
}

function exposureOf(row: ExposureRow): Exposure {
  const { mint, agent, instrument, underlying, strike, expiry, direction, size, status } = row;
  return {
    positionId: row.id,
    mint,
    agent,
    instrument,
    underlying,
    optionType: row.option_type,
    strike,
    expiry,
    direction,
    size,
    reason: fromJson(row.reason),
    status,
    openedAt: row.opened_at,
    openQuote: JSON.parse(row.open_quote) as OptionQuote,
    releasedAt: row.released_at,
    releaseReason: fromJson(row.release_reason),
    releaseQuote: row.release_quote === null ? null : (JSON.parse(row.release_quote) as OptionQuote),
  };
}

/**
 * Checks that one more row may be held. The same row, if held already, is looked for first, so that a retry finds it.
 * @throws Refusal already_held, rate_limited, too_many_exposures
 */
export async function roomToOpen(
  db: Queries,
  mint: string,
  instrument: string,
  direction: Direction,
  now: string,
): Promise<void> {
  const held = await db.query<{ id: string; same: boolean }>(
    `SELECT ${shownId} AS id, instrument = $2 AND direction = $3 AS same
     FROM exposures WHERE mint = $1 AND status = 'held' ORDER BY exposures.id`,
    [mint, instrument, direction],
  );
  const same = held.find((row) => row.same);
  if (same !== undefined) throw heldAlready(instrument, direction, `: position ${same.id}`);
  await roomForExposure(db, mint, now);
  if (held.length >= HELD)
    throw new Refusal(
      'too_many_exposures',
      `${HELD} held exposures are the most for a policy: release one of ${held.map(({ id }) => id).join(', ')}`,
    );
}

/**
 * @param which names the held row's position, since it may be a former agent's, which this agent's list does not show.
 */
function heldAlready(instrument: string, direction: Direction, which = ''): Refusal {
  return new Refusal('already_held', `a ${direction} row for ${instrument} exists and is held${which}`);
}

export type NewExposure = Omit<
  Exposure,
  'positionId' | 'status' | 'openedAt' | 'releasedAt' | 'releaseReason' | 'releaseQuote'
>;

/** @param now the database's time, from `takeTurn`. @throws Refusal already_held */
export async function insertExposure(tx: Transaction, row: NewExposure, now: string): Promise<Exposure> {
  const [stored] = await tx.query<ExposureRow>(
    `INSERT INTO exposures (mint, agent, instrument, underlying, option_type, strike, expiry, direction, size,
       reason, status, opened_at, open_quote)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'held', $11::timestamptz, $12::text::json)
     ON CONFLICT (mint, instrument, direction) WHERE status = 'held' DO NOTHING RETURNING ${EXPOSURE}`,
    [
      ...[row.mint, row.agent, row.instrument, row.underlying, row.optionType, row.strike, row.expiry],
      ...[row.direction, row.size, row.reason, now, JSON.stringify(row.openQuote)],
    ],
  );
  if (stored === undefined) throw heldAlready(row.instrument, row.direction);
  return exposureOf(stored);
}

/** The held row that may be released now. @throws Refusal unknown_position, already_released, rate_limited */
export async function roomToClose(
  db: Queries,
  mint: string,
  positionId: string,
  now: string,
): Promise<Exposure> {
  const id = readId(positionId);
  const [row] =
    id === null
      ? []
      : await db.query<ExposureRow>(
          `SELECT ${EXPOSURE} FROM exposures WHERE id = $1::text::bigint AND mint = $2`,
          [id, mint],
        );
  if (row === undefined) throw new Refusal('unknown_position', 'the policy has no position of that id');
  if (row.status === 'released') throw releasedAlready(positionId);
  await roomForExposure(db, mint, now);
  return exposureOf(row);
}

function releasedAlready(positionId: string): Refusal {
  return new Refusal('already_released', `position ${positionId} was released before`);
}

/** @throws Refusal already_released */
export async function releaseExposure(
  tx: Transaction,
  { positionId, mint }: Exposure,
  reason: string,
  quote: OptionQuote,
  now: string,
): Promise<Exposure> {
  const [row] = await tx.query<ExposureRow>(
    `UPDATE exposures SET status = 'released', released_at = $3::timestamptz, release_reason = $4,
       release_quote = $5::text::json
     WHERE id = $1::text::bigint AND mint = $2 AND status = 'held' RETURNING ${EXPOSURE}`,
    [readId(positionId), mint, now, reason, JSON.stringify(quote)],
  );
  if (row === undefined) throw releasedAlready(positionId);
  return exposureOf(row);
}

/**
 * The rows that the agent wrote for the policy, newest first, and whether more follow. As in `postsOf`, ids are
 * selected first, so that no column is computed for rows that the offset skips.
 */
export async function exposuresOf(
  db: Queries,
  { mint, agent }: { mint: string; agent: string },
  status: StatusFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: Exposure[]; hasMore: boolean }> {
  const rows = await db.query<ExposureRow>(
    `SELECT ${EXPOSURE} FROM exposures
     WHERE exposures.id = ANY (ARRAY(
       SELECT page.id FROM exposures AS page
       WHERE page.mint = $1 AND page.agent = $2 AND ($3 = 'all' OR page.status = $3)
       ORDER BY page.id DESC LIMIT $4::text::int OFFSET $5::text::bigint))
     ORDER BY exposures.id DESC`,
    [mint, agent, status, String(limit + 1), String(offset)],
  );
  return { items: rows.slice(0, limit).map(exposureOf), hasMore: rows.length > limit };
}
