import { NO_ADDRESS } from '../../../schemas/records.ts';
import type { Store } from '../../client.ts';
import { byTransaction, nameOf, type TransactionPlace } from '../transactions/by-transaction.ts';

/** A dead letter that is not resolved, and the record of the log that it was found in. */
export interface OpenLetter {
  id: string;
  what: string;
  /** Address, signature or mint. */
  at: string;
  source: string;
  read_at: string;
  /** '' where it was found in no record that is known. */
  topic: string;
  log_partition: number;
  log_offset: string;
}

/** Oldest first. */
export async function openLetters(store: Store): Promise<OpenLetter[]> {
  return store.query<OpenLetter>(
    `SELECT d.id AS id, d.what AS what, d.at AS at, d.source AS source, d.read_at AS read_at,
       s.topic AS topic, s.log_partition AS log_partition, s.log_offset AS log_offset
     FROM (SELECT id, what, at, source, read_at FROM dead_letters FINAL) AS d
     LEFT JOIN (SELECT * FROM dead_letter_sources FINAL) AS s ON s.id = d.id
     LEFT JOIN (SELECT id, max(read_at) AS resolved FROM resolved_letters GROUP BY id) AS r ON r.id = d.id
     WHERE d.read_at > r.resolved
     ORDER BY read_at, id`,
  );
}

const OPEN_AMONG_TRANSACTIONS = `(
       SELECT id, at, slot, max(read_at) AS found FROM dead_letters WHERE what = 'transaction' GROUP BY id, at, slot) AS d
     LEFT JOIN (SELECT id, max(read_at) AS resolved FROM resolved_letters GROUP BY id) AS r ON r.id = d.id
     WHERE d.found > r.resolved`;

/** Whether there is an open letter of a transaction that could not be read. */
export async function waitsForTransaction(store: Store): Promise<boolean> {
  const rows = await store.query(`SELECT d.id AS id FROM ${OPEN_AMONG_TRANSACTIONS} LIMIT 1`);
  return rows.length > 0;
}

/** The open letters of these transactions, each in its slot. */
export async function lettersOf(
  store: Store,
  transactions: readonly TransactionPlace[],
): Promise<Pick<OpenLetter, 'id' | 'read_at'>[]> {
  const names = new Set(transactions.map(nameOf));
  const letters = await byTransaction(transactions, (of) =>
    store.query<TransactionPlace & Pick<OpenLetter, 'id' | 'read_at'>>(
      `SELECT d.id AS id, toString(d.found) AS read_at, toString(d.slot) AS slot, d.at AS signature
       FROM ${OPEN_AMONG_TRANSACTIONS} AND d.at IN {signatures:Array(String)} AND d.slot IN {slots:Array(UInt64)}`,
      of,
    ),
  );
  return letters.filter((letter) => names.has(nameOf(letter))).map(({ id, read_at }) => ({ id, read_at }));
}

/** Marks these as resolved: they do not count any more, unless they are found again later. */
export async function resolveLetters(
  store: Store,
  letters: readonly Pick<OpenLetter, 'id' | 'read_at'>[],
): Promise<void> {
  await store.insert(
    'resolved_letters',
    letters.map(({ id, read_at }) => ({ id, read_at })),
  );
}

/** Which letters about replies of venues were resolved: the log does not tell. */
export async function resolvedReplies(store: Store): Promise<Pick<OpenLetter, 'id' | 'read_at'>[]> {
  return store.query<Pick<OpenLetter, 'id' | 'read_at'>>(
    `SELECT id, toString(max(read_at)) AS read_at FROM resolved_letters
     WHERE id IN (SELECT id FROM dead_letters WHERE source = 'poll') GROUP BY id`,
  );
}

/**
 * Of the letters about replies of venues, the ids of those whose subject was read well since. `at` names the subject;
 * for what is asked for as a whole (catalogue, currencies, a list of prices) any later reading counts.
 */
export async function outdatedLetters(store: Store): Promise<Set<string>> {
  const rows = await store.query<{ id: string }>(
    `SELECT d.id AS id
     FROM (SELECT id, what, at, read_at FROM dead_letters FINAL WHERE source = 'poll') AS d
     LEFT JOIN (
       SELECT concat('reading:', venue) AS what, venue_account AS at, read_at FROM account_readings FINAL WHERE error IS NULL
       UNION ALL SELECT 'reading:price', mint, max(read_at) FROM prices FINAL WHERE source = 'catalogue' GROUP BY mint
     ) AS one ON one.what = d.what AND one.at = d.at
     LEFT JOIN (
       SELECT 'reading:catalogue' AS what, max(read_at) AS read_at FROM catalogue
       UNION ALL SELECT 'reading:currencies', max(read_at) FROM currencies
       UNION ALL SELECT 'reading:price', maxIf(read_at, source = 'second') FROM prices
     ) AS all ON all.what = d.what AND d.at = {nowhere:String}
     WHERE greatest(one.read_at, all.read_at) > toUInt64(d.read_at)`,
    { nowhere: NO_ADDRESS },
  );
  return new Set(rows.map(({ id }) => id));
}
