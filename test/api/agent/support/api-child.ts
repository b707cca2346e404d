import { flushCompileCache } from 'node:module';
import { migratePostgres } from '../../../../api/postgres/migrate.ts';
import { PATIENCE_MS } from '../../../support/awaited.ts';
import { startAgentApi } from './agent-api.ts';
import { patientDb } from './patient-db.ts';

/** The agents' API as a process of its own, to be killed. Its settings come as one JSON argument. */
const settings = JSON.parse(process.argv[2] as string) as {
  postgresUrl: string | null;
  dataDir: string;
  rpcUrl: string;
  venueUrl: string;
};
const db = await patientDb(settings);
await migratePostgres(db);
const patient = { nodeMs: PATIENCE_MS, venueMs: PATIENCE_MS };
const rpc = { url: settings.rpcUrl };
const api = await startAgentApi({ db, rpc, venueUrl: settings.venueUrl, ...patient });
process.send?.({ url: api.url });
// A killed process would not write its compile cache for the next one.
flushCompileCache();
process.once('disconnect', () => process.exit(0));
