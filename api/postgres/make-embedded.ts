import { workerData } from 'node:worker_threads';
import { openEmbedded } from './embedded.ts';

// A worker: to make the directory of a new database keeps its thread for seconds.
const db = await openEmbedded(workerData as string);
await db.close();
