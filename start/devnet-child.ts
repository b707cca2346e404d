import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ConfigError } from '../runtime/errors.ts';
import type { RemoteVenue } from '../schemas/venues/remote.ts';
import { devnetPortBase } from './ports.ts';

/** Where the devnet child serves its chain and venues. */
export interface DevnetAddresses extends Record<RemoteVenue, string> {
  geyser: string;
  rpc: string;
  catalogue: string;
  price: string;
  programId: string;
  /** An agent to try the agents' routes with: its policy's token, and its key. */
  agent: { mint: string; keyFile: string };
  /** The token of a policy whose agent posts by itself; null where there is none. */
  speaker: string | null;
}

export interface DevnetChild {
  addresses: DevnetAddresses;
  /** Resolves when the child has ended. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

const MAIN = path.resolve(import.meta.dirname, '../devnet/main.ts');

/**
 * Starts the local chain and venues as a child that ends with this process, and waits until it serves.
 * @param service where the devnet's agents reach the API, and the public URL that stands in what they sign.
 */
export async function startDevnet(
  dataDir: string,
  service: { api: string; publicUrl: string },
  flags: readonly string[],
): Promise<DevnetChild> {
  const ports = String(await devnetPortBase(dataDir));
  const args = [
    MAIN,
    '--dir',
    path.join(dataDir, 'devnet'),
    '--port-base',
    ports,
    '--parent-pid',
    String(process.pid),
    '--api',
    service.api,
    '--public-url',
    service.publicUrl,
  ];
  const child = spawn(process.execPath, [...args, ...flags], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let said = '';
  let isReady = false;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (isReady) process.stderr.write(text);
    else said += text;
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const addresses = await new Promise<DevnetAddresses>((resolve, reject) => {
    child.once('error', reject);
    // `close` comes behind all of the child's output, which holds the reason; `exit` may not.
    child.once('close', (code, signal) => {
      const why = said.trim().replace(/^devnet: /, '') || signal || `exit ${code}`;
      reject(new ConfigError(`the local chain did not start: ${why}`));
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const ready = readyLine(line);
      if (ready === null) return;
      isReady = true;
      process.stderr.write(said);
      resolve(ready);
    });
  });
  return {
    addresses,
    ended,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function readyLine(line: string): DevnetAddresses | null {
  if (!line.startsWith('{"devnet"')) return null;
  return (JSON.parse(line) as { devnet: DevnetAddresses }).devnet;
}
