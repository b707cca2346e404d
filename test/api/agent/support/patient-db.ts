import { openDb } from '../../../../api/postgres/connect.ts';
import { openPool } from '../../../../api/postgres/pool.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import { PATIENCE_MS } from '../../../support/awaited.ts';

/** A server of which nobody is told that it is busy, however slow the machine is: for tests that are of no such limit. */
export const patientPool = (url: string): Db =>
  openPool(url, { connections: 12, connectMs: PATIENCE_MS, statementMs: PATIENCE_MS });

/** The same where there is a server, else the engine in the directory. */
export const patientDb = (settings: { postgresUrl: string | null; dataDir: string }): Promise<Db> =>
  settings.postgresUrl === null ? openDb(settings) : Promise.resolve(patientPool(settings.postgresUrl));
