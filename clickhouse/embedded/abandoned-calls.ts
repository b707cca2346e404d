import type { Session } from 'chdb';

/** Engines that are open, and calls that were given up. */
let open = 0;
let lost = 0;

/**
 * Notes that an engine is open. While one is, Node waits at exit for the calls to it, and the engine is torn down under
 * its own threads, so that the exit may never complete: a process that has failed then ends itself as `kill -9` would.
 * What the engine has acknowledged is on disk.
 * @returns a function to call once the engine is closed
 */
export function noteOpened(): () => void {
  if (open === 0) process.on('exit', endWithout);
  open += 1;
  return () => {
    open -= 1;
    if (open + lost === 0) process.off('exit', endWithout);
  };
}

/** Gives a call up: its session is closed once it comes back. Until then an exit of the process is a `kill -9`. */
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
