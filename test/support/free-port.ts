import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Below the ports that systems choose for port 0: no process is given one of these by chance. */
const FIRST = 20_000;
const EACH = 2_000;
/** Ranges of ports: one for each of the run's workers, and one for the run itself. */
const RANGES = 6;
const RANGE = Number(process.env.VITEST_POOL_ID ?? 0) % RANGES;

/** Ports reserved at once: far more than one file starts servers on. A run of hours goes through its range again. */
const MOST_HELD = 200;

let at = randomInt(EACH);
const held: net.Server[] = [];

/** A port that nothing listens on, for a server that is started later; no other run chooses it meanwhile. */
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
 * Reserves a port by an abstract socket, which one process of the machine can have, until it ends: else another run
 * could find the port free before the server listens. Only Linux has these; elsewhere nothing is reserved. Null where
 * another process has it.
 */
function holdOf(port: number): Promise<net.Server | null> {
  const hold = net.createServer().unref();
  if (process.platform !== 'linux') return Promise.resolve(hold);
  return new Promise((resolve) => {
    // Where abstract sockets are not permitted, nothing is reserved, as on other systems.
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
