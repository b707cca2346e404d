import type { Config } from '../../../runtime/config.ts';
import { createGeyserClient, type GeyserStream } from '../../stream/geyser/client.ts';

/** Subscribes as ingest does and waits for the first slot. @throws what ended the stream before one came */
export async function checkStream(
  endpoint: string,
  { yellowstoneXToken, programId, commitment }: Config,
  signal: AbortSignal,
): Promise<string> {
  const client = createGeyserClient(endpoint, yellowstoneXToken);
  let stream: GeyserStream | null = null;
  const cancel = () => stream?.cancel('no slot came in time');
  try {
    return await new Promise<string>((resolve, reject) => {
      const subscription = { programId, addresses: [], commitment, fromSlot: null };
      stream = client.subscribe(subscription, {
        onUpdate: (update) => {
          if (update.type === 'slot') resolve(`streams, slot ${update.slot}`);
        },
        onEnd: reject,
      });
      signal.addEventListener('abort', cancel, { once: true });
    });
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
    client.close();
  }
}
