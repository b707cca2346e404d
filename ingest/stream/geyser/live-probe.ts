import type { GeyserClient, Subscription } from './client.ts';

/** A server that refuses a request does so at once. */
const WITHIN_MS = 2_000;

/** Whether a server takes a request that asks for no replay; nothing of what it brings is used. */
export function takesLive(
  client: GeyserClient,
  subscription: Subscription,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    /** Whether anything came; a ping comes before the server looks at the request. */
    let isThere = false;
    let isTaken = false;
    const stream = client.subscribe(subscription, {
      onUpdate: ({ type }) => {
        isThere = true;
        if (type === 'ping' || type === 'other') return;
        isTaken = true;
        stop();
      },
      onEnd: () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        resolve(isTaken);
      },
    });
    const stop = () => stream.cancel('looked');
    const timer = setTimeout(() => {
      isTaken = isThere;
      stop();
    }, WITHIN_MS);
    signal.addEventListener('abort', stop, { once: true });
  });
}
