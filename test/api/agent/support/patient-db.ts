import { openDb } from '../../../../api/postgres/connect.ts';
import { openPool } from '../../../../api/postgres/pool.ts';
import type { Db } from '../../../../api/postgres/port.ts';
import { PATIENCE_MS } from '../../../support/awaited.ts';

/** Never reports its server as busy, however slow the machine is: for tests that are not about such limits. */
export const patientPool = (url: string): Db =>
  openPool(url, { connections: 12, connectMs: PATIENCE_MS, statementMs: PATIENCE_MS });

/** That pool where there is a server, else the engine in the directory. */
export const patientDb = (settings: { postgresUrl: string | null; dataDir: string }): Promise<Db> =>
  settings.postgresUrl === null ? openDb(settings) : Promise.resolve(patientPool(settings.postgresUrl));
