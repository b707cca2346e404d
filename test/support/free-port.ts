import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below what systems give to those who ask for any port: nobody is given one of these by chance. */
const FIRST = 20_000;
const EACH = 2_000;
/** Test files side by side choose from ranges of their own, and so does the run itself: as many as it has workers, and one. */
const RANGES = 6;
const RANGE = Number(process.env.VITEST_POOL_ID ?? 0) % RANGES;

/** Far more than one file starts servers on at once; whoever starts some for hours has those of all the numbers in turn. */
const MOST_HELD = 200;

let at = randomInt(EACH);
const held: net.Server[] = [];

/** A port that nobody listens on, for a server that is started with it later; no other run chooses it meanwhile. */
export async function freePort(): Promise<number> {
  for (;;) {
    at = (at + 1) % EACH;
    const port = FIRST + RANGE * EACH + at;
    const hold = await holdOf(port);
    if (hold === null) continue;
    if (await isFree(port)) {
      held.push(hold);
      if (held.length > MOST_HELD) held.shift()?.close();
      return port;
    }
    hold.close();
  }
}

/**
 * A name of the kernel's that one process of the machine has, for as long as it lives: between the look at a port and its
 * server another run may look, too. Elsewhere than on Linux there are none. Null where another has it.
 */
function holdOf(port: number): Promise<net.Server | null> {
  const hold = net.createServer().unref();
  if (process.platform !== 'linux') return Promise.resolve(hold);
  return new Promise((resolve) => {
    // Where such names may not be made it is as on other systems.
    hold.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'EADDRINUSE' ? null : hold));
    hold.listen(`\0bankroll-tests-port-${port}`, () => resolve(hold));
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
