import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below what systems give to those who ask for any port: nobody is given one of these by chance. */
const FIRST = 20_000;
const EACH = 2_000;
/** Test files side by side choose from ranges of their own, and so does the run itself: as many as it has workers, and one. */
const RANGES = 6;
const RANGE = Number(process.env.VITEST_POOL_ID ?? 0) % RANGES;

let at = randomInt(EACH);

/** A port that nobody listens on, for a server that is started with it later. */
export async function freePort(): Promise<number> {
  for (;;) {
    at = (at + 1) % EACH;
    const port = FIRST + RANGE * EACH + at;
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
