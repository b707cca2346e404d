import type { GeyserClient, GeyserStream, Subscription } from '../geyser/client.ts';
import type { StreamEndedError } from '../geyser/ended.ts';
import type { Update } from '../geyser/update.ts';
import { watch } from '../watchdog.ts';

export interface WatchedStreamOptions {
  client: GeyserClient;
  subscription: Subscription;
  onUpdate(update: Update, stream: GeyserStream): void;
  /** The slot up to which everything that it brings is here; null before one. */
  reached(): bigint | null;
  onEnd(ended: StreamEndedError): void;
  silenceMs?: number;
  signal: AbortSignal;
}

/** Opens a stream that is ended where it stands still, and when the signal aborts. */
export function openWatchedStream(options: WatchedStreamOptions): GeyserStream {
  const { signal, silenceMs } = options;
  let highest = -1n;
  const stream = options.client.subscribe(options.subscription, {
    onUpdate: (update) => {
      if (update.type === 'blockMeta' && update.slot > highest) highest = update.slot;
      options.onUpdate(update, stream);
      dog.heard(highest, options.reached());
    },
    onEnd: (ended) => {
      dog.stop();
      signal.removeEventListener('abort', stop);
      options.onEnd(ended);
    },
  });
  const stop = () => stream.cancel('stopping');
  signal.addEventListener('abort', stop, { once: true });
  const dog = watch({
    ...(silenceMs === undefined ? {} : { silenceMs }),
    onStall: (reason) => {
      options.client.renew();
      stream.cancel(reason);
    },
    paused: () => false,
  });
  return stream;
}
