import { openEmbedded } from './embedded.ts';

// Run as a process of its own: making the directory of a new database keeps its thread for seconds.
const db = await openEmbedded(process.argv[2] as string);
await db.close();
