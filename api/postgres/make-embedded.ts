import { openEmbedded } from './embedded.ts';

// A process of its own makes the directory of a new database, which keeps its thread for seconds.
const db = await openEmbedded(process.argv[2] as string);
await db.close();
