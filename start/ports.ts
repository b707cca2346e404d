import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { makeDirectory } from '../runtime/process/directory.ts';

/** Below the ephemeral ports: no outgoing connection takes one of these between the check and the listening. */
const LOWEST = 12_000;
const SPREAD = 8_000;
const PORTS = 3;
/** The ports that the local chain accepts. A stored one may be of an older version, which drew from another range. */
const LOWEST_KNOWN = 1_024;
const HIGHEST_KNOWN = 65_000;

/**
 * The local chain's ports, the same at every start: the addresses of its documents are on the chain.
 * @returns the first of three ports in a row that are free.
 */
export async function devnetPortBase(dataDir: string): Promise<number> {
  const file = path.join(dataDir, 'devnet-port');
  const known = readNumber(file);
  if (known !== null && (await allFree(known))) return known;
  for (;;) {
    const base = LOWEST + Math.floor(Math.random() * SPREAD);
    if (!(await allFree(base))) continue;
    makeDirectory(dataDir);
    writeFileSync(file, `${base}\n`);
    return base;
  }
}

function readNumber(file: string): number | null {
  try {
    const number = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(number) && number >= LOWEST_KNOWN && number <= HIGHEST_KNOWN ? number : null;
  } catch {
    return null;
  }
}

async function allFree(base: number): Promise<boolean> {
  for (let port = base; port < base + PORTS; port += 1) {
    const free = await new Promise<boolean>((resolve) => {
      const server = net.createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (!free) return false;
  }
  return true;
}
