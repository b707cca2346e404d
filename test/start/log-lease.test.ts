import { afterEach, beforeEach, expect, test } from 'vitest';
import { openServer, type Store } from '../../clickhouse/client.ts';
import { PartitionLostError } from '../../ingest/materialise/begun-batch.ts';
import { readConfig } from '../../runtime/config/config.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { leaseOf, openLog, type SharedLog } from '../../start/log.ts';
import { marker } from '../ingest/materialise/support/records.ts';
import { awaited } from '../support/awaited.ts';
import { freshDatabase, urlOf } from '../support/database.ts';

const logger = createLogger('silent', 'test');
/** So long that no process counts as dead, however busy the machine is. */
const PATIENT = { everyMs: 50, staleSeconds: 60 };
/** A process that is cut off counts as dead soon; still far longer than a live one goes between two signs of life. */
const BRIEF = { everyMs: 50, staleSeconds: 8 };

let store: Store;
let ends: (() => Promise<unknown>)[];
beforeEach(async () => {
  store = await freshDatabase();
  ends = [];
});
afterEach(async () => {
  for (const end of ends) await end();
  await store.close();
});

/** Opens the log as `npm start` does on another machine. */
async function another(leaseTimes: typeof PATIENT, wrap = (own: Store) => own): Promise<SharedLog> {
  const own = await openServer(urlOf(store), null);
  ends.push(() => own.close());
  const config = readConfig({});
  const wrapped = wrap(own);
  return openLog(config, wrapped, logger, { lease: await leaseOf(config, wrapped, logger, leaseTimes) });
}

test('a second npm start is refused the database while the first runs, and let in once that has ended', async () => {
  const first = await another(PATIENT);
  const refused = another(PATIENT);
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toThrow(/another npm start fills the database \w+ .* KAFKA_BROKERS/);
  await first.close();
  const second = await another(PATIENT);
  await second.close();
});

test('a lease holder that gives no sign of life owns no further batch and ends, and another is let in', async () => {
  let isCut = false;
  const cut = (own: Store): Store => {
    const unlessCut = <T>(run: () => Promise<T>) => (isCut ? Promise.reject(new Error('cut off')) : run());
    return {
      ...own,
      command: (sql) => unlessCut(() => own.command(sql)),
      query: (sql, params) => unlessCut(() => own.query(sql, params)),
    };
  };
  const first = await another(BRIEF, cut);
  const owned: boolean[] = [];
  const running = first.run(async (batch) => {
    owned.push(batch.owned());
    if (!batch.owned()) throw new PartitionLostError('taken away');
  }, new AbortController().signal);
  running.catch(() => undefined);
  await first.append([marker(1n)]);
  await awaited(() => expect(owned).toEqual([true, true]));

  isCut = true;
  const second = await another(BRIEF);
  await first.append([marker(2n)]);
  await awaited(() => expect(owned.length).toBeGreaterThan(2));
  expect(owned.slice(2)).not.toContain(true);

  isCut = false;
  await expect(running).rejects.toThrow(/another npm start fills the database \w+ since this one/);
  // The first does not take the lost lease back.
  await first.close();
  await expect(another(PATIENT)).rejects.toThrow(ConfigError);
  await second.close();
});

test('a lease holder that was cut off goes on where nobody took the lease meanwhile', async () => {
  let failures = 0;
  const failing = (own: Store): Store => ({
    ...own,
    command: (sql) => {
      if (!sql.startsWith('ALTER') || failures === 0) return own.command(sql);
      failures -= 1;
      return Promise.reject(new Error('cut off'));
    },
  });
  const log = await another(PATIENT, failing);
  failures = 3;
  await awaited(() => expect(failures).toBe(0));
  const stop = new AbortController();
  const owned: boolean[] = [];
  const running = log.run(async (batch) => void owned.push(batch.owned()), stop.signal);
  await log.append([marker(1n)]);
  await awaited(() => expect(owned).toEqual([true, true]));
  stop.abort();
  await running;
  await log.close();
});
