import { mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';

const MEMORY = '/dev/shm';
const PREFIX = 'bankroll-tests-';
const LEAST_BYTES = 6 * 1024 ** 3;

/**
 * Has temporary directories made in memory from now on, where there is enough: test files that make and drop databases
 * spend up to a third of their time in a disk's file system.
 * @returns a function that deletes them
 */
export function useScratch(): () => void {
  if (!hasRoom()) return () => {};
  deleteLeftovers();
  const directory = path.join(MEMORY, `${PREFIX}${process.pid}`);
  mkdirSync(directory, { recursive: true });
  process.env.TMPDIR = directory;
  return () => rmSync(directory, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > LEAST_BYTES;
  } catch {
    return false;
  }
}

/** Deletes the directories of runs that were killed. */
function deleteLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith(PREFIX) || isAlive(Number(name.slice(PREFIX.length)))) continue;
    rmSync(path.join(MEMORY, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
