import { reportWait } from '../../../support/awaited.ts';

export interface Heard {
  event: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  data: any;
}

export interface Listener {
  status: number;
  headers: Headers;
  /** Everything heard so far, oldest first. */
  heard: Heard[];
  /** The id a browser would send back now. */
  lastId(): string;
  /** The id that it begins with, once that came. @throws where the stream ends before, or was refused. */
  firstId(): Promise<string>;
  /** Waits until so many events were heard. @throws where the stream ends before, or at what must never be heard. */
  until(count: number): Promise<Heard[]>;
  ended: Promise<void>;
  close(): void;
}

/** Listens to a stream as a browser does. @param never events at which waiting for others fails */
export async function listenTo(url: string, lastId?: string, never: string[] = []): Promise<Listener> {
  const abort = new AbortController();
  const reply = await fetch(url, {
    signal: abort.signal,
    headers: lastId === undefined ? {} : { 'Last-Event-ID': lastId },
  });
  const heard: Heard[] = [];
  let id = lastId ?? '';
  const first = Promise.withResolvers<string>();
  // Not every test awaits it: its rejection must not count as unhandled.
  first.promise.catch(() => undefined);
  let over = false;
  let woken = Promise.withResolvers<void>();
  const wake = () => {
    woken.resolve();
    woken = Promise.withResolvers<void>();
  };
  const take = (block: string) => {
    const fields = block
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
    const of = (name: string) => fields.findLast(([field]) => field === name)?.[1];
    id = of('id') ?? id;
    if (id !== '') first.resolve(id);
    const data = of('data');
    if (data !== undefined) heard.push({ event: of('event') ?? 'message', id, data: JSON.parse(data) });
  };
  const ended = (async () => {
    let text = '';
    try {
      const decoder = new TextDecoder();
      for await (const chunk of reply.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) take(block);
        wake();
      }
    } catch {
      // The test closed the stream, or the server cut it off.
    }
    over = true;
    first.reject(new Error(`${url} answered ${reply.status} and ended without an id: ${text}`));
    wake();
  })();
  return {
    status: reply.status,
    headers: reply.headers,
    heard,
    lastId: () => id,
    firstId: () => first.promise,
    until: async (count) => {
      const told = reportWait(
        () => `${url}: ${heard.length} of ${count} heard, the last ${JSON.stringify(heard.at(-1))}`,
      );
      try {
        for (;;) {
          const unheardOf = heard.find(({ event }) => never.includes(event));
          if (unheardOf !== undefined) throw new Error(`${url} told ${JSON.stringify(unheardOf)}`);
          if (heard.length >= count) return heard;
          if (over)
            throw new Error(`the stream ended after ${heard.length} events: ${JSON.stringify(heard.at(-1))}`);
          await woken.promise;
        }
      } finally {
        told();
      }
    },
    ended,
    close: () => abort.abort(),
  };
}
