import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';

const MAIN = path.resolve(import.meta.dirname, '../../start/main.ts');
const TICKS_PER_SECOND = 100;
const WARM_UP_MS = 60_000;

export interface Idle {
  /** Share of a core that `npm start` uses, without its local chain. */
  cores: number;
  /** Share of a core that the local chain uses. */
  chainCores: number;
  rssMb: number;
}

/**
 * Measures what `npm start` costs while nobody reads.
 * @param flags of `npm start`
 * @param after is run after that, with its address
 */
export async function idle<After>(
  flags: readonly string[],
  seconds: number,
  after: (url: string) => Promise<After>,
): Promise<Idle & { after: After }> {
  const directory = mkdtempSync(path.join(tmpdir(), 'idle-'));
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN, ...flags], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '16', DATA_DIR: directory, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`npm start ended with ${code}`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line.includes('is serving')) resolve();
      });
    });
    await pause(WARM_UP_MS);
    const pid = child.pid as number;
    const chain = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
    const before = [ticks(pid), ticks(chain)] as const;
    await pause(seconds * 1000);
    const share = (now: number, then: number) => (now - then) / TICKS_PER_SECOND / seconds;
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const watched = {
      cores: share(ticks(pid), before[0]),
      chainCores: share(ticks(chain), before[1]),
      rssMb: Number(kilobytes) / 1024,
    };
    return { ...watched, after: await after(`http://127.0.0.1:${port}`) };
  } finally {
    child.removeAllListeners('exit');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

/** CPU ticks of a process, user and system: fields 14 and 15 of /proc/PID/stat, counted from behind the name. */
function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}
