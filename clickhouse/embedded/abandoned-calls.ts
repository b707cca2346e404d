import type { Session } from 'chdb';

/** Engines that are open, and calls that were given up. */
let open = 0;
let lost = 0;

/**
 * Notes that an engine is open; to be told once it is closed. While one is, Node waits at its end for what is asked of it,
 * and it is taken apart under threads of its own, so that such an end may never come: a process that failed then ends
 * as `kill -9` ends it. What the engine has acknowledged is on disk.
 */
export function noteOpened(): () => void {
  if (open === 0) process.on('exit', endWithout);
  open += 1;
  return () => {
    open -= 1;
    if (open + lost === 0) process.off('exit', endWithout);
  };
}

/** Gives a call up: its session is closed once it comes back. It may never: whatever the process ends with, it ends. */
export function abandonCall(session: Session, call: Promise<unknown>): void {
  lost += 1;
  const back = () => {
    lost -= 1;
    if (open + lost === 0) process.off('exit', endWithout);
    session.close();
  };
  call.then(back, back);
}

function endWithout(code: number): void {
  if (lost > 0)
    process.stderr.write('the embedded engine holds a question that it never answered: ending without it\n');
  else if (code === 0) return;
  process.kill(process.pid, 'SIGKILL');
}
