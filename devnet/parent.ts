const LOOK_MS = 500;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Calls `onGone` when the parent's IPC channel closes or no process has its id. Returns a function that stops this. */
export function watchParent(pid: number | null, onGone: () => void): () => void {
  if (process.channel !== undefined) process.on('disconnect', onGone);
  const timer = pid === null ? null : setInterval(() => isAlive(pid) || onGone(), LOOK_MS);
  timer?.unref();
  return () => {
    process.off('disconnect', onGone);
    if (timer !== null) clearInterval(timer);
  };
}
