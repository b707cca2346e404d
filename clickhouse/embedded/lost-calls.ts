import type { Session } from 'chdb';

/** Calls that were given up and have not come back. */
let outside = 0;

/**
 * Gives a call of the engine up: its session is closed once it comes back. Node waits at its end for every call that
 * is outside, for ever where one never comes back, so that the process then ends as `kill -9` ends it: what the
 * engine has acknowledged is on disk.
 */
export function abandonCall(session: Session, call: Promise<unknown>): void {
  if (outside === 0) process.on('exit', endWithout);
  outside += 1;
  const back = () => {
    outside -= 1;
    if (outside === 0) process.off('exit', endWithout);
    session.close();
  };
  call.then(back, back);
}

function endWithout(): void {
  process.stderr.write('the embedded engine holds a question that it never answered: ending without it\n');
  process.kill(process.pid, 'SIGKILL');
}
