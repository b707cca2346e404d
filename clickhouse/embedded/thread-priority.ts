import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';

const THREADS = '/proc/self/task';
/** Threads of this name run the calls to the engine. */
const POOL = 'libuv-worker';
/** In steps of nice: a third of the time where both want all of it. */
const LOWER_BY = 5;
const LOWEST = 19;

/**
 * Opens the engine, and has its threads give way to the one that answers requests: that one works for all readers, in
 * pieces of a millisecond, and a dozen questions side by side kept it waiting for a core for as long as it ran. Threads
 * that these start inherit their priority. Where the system has no priorities of threads nothing is changed.
 */
export async function withLowPriorityThreads<T>(open: () => Promise<T>): Promise<T> {
  const before = threads();
  const opened = await open();
  for (const [id, name] of threads()) if (name === POOL || !before.has(id)) lower(id);
  return opened;
}

function threads(): Map<number, string> {
  try {
    return new Map(readdirSync(THREADS).map((id) => [Number(id), nameOf(id)]));
  } catch {
    return new Map();
  }
}

function nameOf(id: string): string {
  try {
    return readFileSync(`${THREADS}/${id}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

function lower(id: number): void {
  try {
    const priority = os.getPriority(id);
    // A thread to which the engine has given another priority is left as it is.
    if (priority === os.getPriority()) os.setPriority(id, Math.min(LOWEST, priority + LOWER_BY));
  } catch {
    // It has ended, or may not be changed: it goes on as it was.
  }
}
