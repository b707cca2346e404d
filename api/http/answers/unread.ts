import type { ServerResponse } from 'node:http';
import { type Answer, lengthOf } from './answers.ts';

/** What was answered and has not left yet, because it is not read. */
export interface Unread {
  note(address: string, response: ServerResponse, answer: Answer): void;
}

interface Waiting {
  response: ServerResponse;
  /** What takes the room, and how many bytes each: what several are sent takes it once. */
  held: ReadonlyMap<object, number>;
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
  const hold = ({ held }: Waiting): void => {
    for (const [one, bytes] of held) {
      const before = users.get(one) ?? 0;
      users.set(one, before + 1);
      if (before === 0) all += bytes;
    }
  };
  const release = ({ held }: Waiting): void => {
    for (const [one, bytes] of held) {
      const left = (users.get(one) ?? 1) - 1;
      if (left > 0) users.set(one, left);
      else if (users.delete(one)) all -= bytes;
    }
  };
  let all = 0;

  const leave = (address: string, one: Waiting): void => {
    const own = clients.get(address);
    if (own === undefined || !own.delete(one)) return;
    if (own.size === 0) clients.delete(address);
    release(one);
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
    note: (address, response, answer) => {
      const bytes = lengthOf(answer);
      if (bytes < LEAST_BYTES || response.destroyed || response.writableFinished) return;
      const one = { response, held: heldFor(answer), bytes };
      const own = clients.get(address);
      if (own === undefined) clients.set(address, new Set([one]));
      else own.add(one);
      hold(one);
      response.once('close', () => leave(address, one));
      while (all > most && clients.size > 0) endOne();
    },
  };
}

/** Bytes are kept as large as they were made, whatever part of them is sent. */
function heldFor({ bytes, rest = [] }: Answer): ReadonlyMap<object, number> {
  const held = new Map<object, number>([[bytes.buffer, bytes.buffer.byteLength]]);
  for (const { bytes: piece } of rest) held.set(piece.buffer, piece.buffer.byteLength);
  return held;
}
