import type { ServerResponse } from 'node:http';

/** What was answered and has not left yet, because it is not read. */
export interface Unread {
  /** @param held what takes the room: answers that several are sent take it once */
  note(address: string, response: ServerResponse, held: object, bytes: number): void;
}

interface Waiting {
  response: ServerResponse;
  held: object;
  bytes: number;
}

/** The system takes as much at once. */
const LEAST_BYTES = 64 * 1024;

/**
 * Bounds what waits for those who do not read: beyond `most` bytes, whoever has most of them waiting loses the connection
 * that has waited longest. Nobody else is refused anything.
 */
export function createUnread(most: number): Unread {
  const clients = new Map<string, Set<Waiting>>();
  const users = new Map<object, number>();
  let all = 0;

  const leave = (address: string, one: Waiting): void => {
    const own = clients.get(address);
    if (own === undefined || !own.delete(one)) return;
    if (own.size === 0) clients.delete(address);
    const left = (users.get(one.held) ?? 1) - 1;
    if (left > 0) users.set(one.held, left);
    else if (users.delete(one.held)) all -= one.bytes;
  };
  const endOne = (): void => {
    let greatest: [string, Waiting] | undefined;
    let mostBytes = -1;
    for (const [address, own] of clients) {
      let bytes = 0;
      for (const one of own) bytes += one.bytes;
      const [oldest] = own;
      if (bytes > mostBytes && oldest !== undefined) [greatest, mostBytes] = [[address, oldest], bytes];
    }
    if (greatest === undefined) return;
    leave(...greatest);
    greatest[1].response.destroy();
  };

  return {
    note: (address, response, held, bytes) => {
      if (bytes < LEAST_BYTES || response.destroyed || response.writableFinished) return;
      const one = { response, held, bytes };
      const own = clients.get(address);
      if (own === undefined) clients.set(address, new Set([one]));
      else own.add(one);
      const before = users.get(held) ?? 0;
      users.set(held, before + 1);
      if (before === 0) all += bytes;
      response.once('close', () => leave(address, one));
      while (all > most && clients.size > 0) endOne();
    },
  };
}
