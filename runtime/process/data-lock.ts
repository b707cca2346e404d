import {
  chmodSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../errors.ts';
import { makeDirectory } from './directory.ts';

/** Another process uses the data directory. */
export class DataLockedError extends ConfigError {
  override name = 'DataLockedError';
}

interface Holder {
  pid: number;
  /** Start of the process in clock ticks since boot: tells the holder from a later process with the same pid. */
  started: string;
}

/** How long a process that was killed may take to be gone. */
const LEAVING_MS = 5_000;
const LOOK_EVERY_MS = 50;

/**
 * Takes the data directory for this process: embedded stores lose rows when two processes open them.
 * A holder that died, however it died, does not count; one that is dying is waited for.
 * @returns a function that gives it back.
 * @throws DataLockedError where a living process holds it.
 */
export function lockDataDir(dataDir: string): () => void {
  makeThere(dataDir);
  makePrivate(dataDir);
  const file = path.join(dataDir, 'lock');
  const own: Holder = { pid: process.pid, started: startOf(process.pid) ?? '' };
  const written = `${file}.new.${process.pid}`;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    try {
      // A hard link appears with the whole file: no process reads a half written holder.
      writeFileSync(written, JSON.stringify(own));
      linkSync(written, file);
      return () => {
        if (read(file)?.pid === own.pid) rmSync(file, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(written, { force: true });
    }
    const holder = read(file);
    if (holder !== null && livesOn(holder)) {
      throw new DataLockedError(
        `DATA_DIR ${dataDir} is in use by process ${holder.pid}: stop that one, or name another directory in DATA_DIR`,
      );
    }
    takeAway(file, holder);
  }
  throw new DataLockedError(`DATA_DIR ${dataDir} is being taken by another process`);
}

/**
 * For commands that work on servers. Where none is configured while an `npm start` runs, the user meant its stores,
 * which no other process may open.
 * @throws DataLockedError where a living process holds the directory; not where there is no such directory.
 */
export function refuseHeld(dataDir: string): void {
  if (existsSync(dataDir)) lockDataDir(dataDir)();
}

/** What is wrong with a directory that cannot be made, by error code. */
const UNUSABLE: Record<string, string> = {
  EEXIST: 'is no directory',
  ENOENT: 'lies where nothing can be made',
  ENOTDIR: 'lies in what is no directory',
  EACCES: 'may not be made by this user',
  EPERM: 'may not be made by this user',
  EROFS: 'is on a file system that nothing can be written to',
  ENOSPC: 'is on a file system that is full',
};

/** @throws ConfigError */
function makeThere(dataDir: string): void {
  try {
    makeDirectory(dataDir);
  } catch (cause) {
    const why = UNUSABLE[(cause as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be made';
    throw new ConfigError(`DATA_DIR ${dataDir} ${why}: name another directory in DATA_DIR`, { cause });
  }
}

/**
 * Closes it to other users: its stores are as open as it is, and a user who writes there can forge posts.
 * @throws ConfigError
 */
function makePrivate(dataDir: string): void {
  try {
    if ((statSync(dataDir).mode & 0o777) !== 0o700) chmodSync(dataDir, 0o700);
  } catch (cause) {
    throw new ConfigError(`DATA_DIR ${dataDir} is open to others and is not ours to close`, { cause });
  }
}

/** Moves a dead holder's file aside and removes it; puts it back where another process took the lock meanwhile. */
function takeAway(file: string, expected: Holder | null): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const taken = read(aside);
  if (JSON.stringify(taken) === JSON.stringify(expected)) rmSync(aside, { force: true });
  else renameSync(aside, file);
}

function read(file: string): Holder | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return null;
  }
}

/** Whether a holder lives on; waits for one that is dying, and gives up on it after LEAVING_MS: false then, too. */
function livesOn(holder: Holder): boolean {
  for (let waited = 0; startOf(holder.pid) === holder.started; waited += LOOK_EVERY_MS) {
    if (!isLeaving(holder.pid)) return startOf(holder.pid) === holder.started;
    if (isZombie(holder.pid) || waited >= LEAVING_MS) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  }
  return false;
}

/** When a process started; null where there is no such process, an empty text where the system does not tell it. */
function startOf(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null;
  }
  return statOf(pid)?.[19] ?? '';
}

/** The fields of /proc/pid/stat behind the process name: those of proc(5) from the third on. */
function statOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** Whether all of its threads are dead, so that it waits for its parent alone. */
function isZombie(pid: number): boolean {
  try {
    return statOf(pid)?.[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return false;
  }
}

const DEAD = new Set(['Z', 'X', 'x']);
const EXITING = 0x4n;
const KILLED = 1n << 8n;

/** Whether it is dead, is exiting, or has a SIGKILL pending. */
function isLeaving(pid: number): boolean {
  const stat = statOf(pid);
  if (stat === null) return false;
  if (DEAD.has(stat[0] ?? '') || (BigInt(stat[6] ?? 0) & EXITING) !== 0n) return true;
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return [...status.matchAll(/^S(?:ig|hd)Pnd:\s+(\w+)/gm)].some(
      ([, mask]) => (BigInt(`0x${mask}`) & KILLED) !== 0n,
    );
  } catch {
    return true;
  }
}
