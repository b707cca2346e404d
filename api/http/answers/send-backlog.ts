import type { ServerResponse } from 'node:http';
import { type Bag, createBag } from '../../../runtime/bag.ts';
import { type Form, lengthOf } from './forms.ts';

/** Answers that have not left yet, because their clients do not read them. */
export interface SendBacklog {
  note(address: string, response: ServerResponse, answer: Form): void;
}

interface Waiting {
  response: ServerResponse;
  /** Counted up, over all answers: the lowest has waited longest. */
  number: number;
  /** The buffers that it keeps in memory, with the bytes of each: one that is sent to several clients counts once. */
  held: ReadonlyMap<object, number>;
  bytes: number;
  /** Takes it out of the backlog; does so once. */
  leave(): void;
}

/** Smaller answers are not counted: the system takes this much at once. */
const LEAST_BYTES = 64 * 1024;

/** Room for many clients that read, which have a few MB waiting each, and no more than a machine has. */
const MOST_BYTES = 512 * 1024 * 1024;
/**
 * The part of a container's memory that may wait: a process that takes more than all of it is ended, and the rest of
 * this one wants most of it.
 */
const MOST_OF_MEMORY = 1 / 4;

/** @param memory bytes that this process may have; 0, or more than any machine has, where nothing bounds it */
export function mostWaiting(memory: number): number {
  return memory > 0 ? Math.min(MOST_BYTES, memory * MOST_OF_MEMORY) : MOST_BYTES;
}

/**
 * Bounds what waits for clients that do not read: beyond `most` bytes, the client with most of them waiting loses the
 * connection that has waited longest. No other client is refused anything.
 */
export function createSendBacklog(most: number): SendBacklog {
  const clients = new Map<string, Bag<Waiting>>();
  const users = new WeakMap<object, number>();
  let all = 0;
  let noted = 0;
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
      users.set(one, left);
      if (left === 0) all -= bytes;
    }
  };
  const endOne = (): void => {
    let greatest: Waiting[] = [];
    let mostBytes = -1;
    for (const own of clients.values()) {
      const waiting = own.all();
      const bytes = waiting.reduce((sum, one) => sum + one.bytes, 0);
      if (bytes > mostBytes) [greatest, mostBytes] = [waiting, bytes];
    }
    const oldest = greatest.reduce((first, one) => (one.number < first.number ? one : first));
    oldest.leave();
    oldest.response.destroy();
  };

  return {
    note: (address, response, answer) => {
      const bytes = lengthOf(answer);
      if (bytes < LEAST_BYTES || response.destroyed || response.writableFinished) return;
      const own = clients.get(address) ?? createBag<Waiting>();
      clients.set(address, own);
      noted += 1;
      let waits = true;
      const one: Waiting = {
        ...{ response, number: noted, held: heldFor(answer), bytes },
        leave: () => {
          if (!waits) return;
          waits = false;
          takeOut();
          if (own.size() === 0) clients.delete(address);
          release(one);
        },
      };
      const takeOut = own.add(one);
      hold(one);
      response.once('close', one.leave);
      while (all > most && clients.size > 0) endOne();
    },
  };
}

/** Buffers are kept as large as they were made, whatever part of them is sent. */
function heldFor({ bytes, rest = [] }: Form): ReadonlyMap<object, number> {
  const held = new Map<object, number>([[bytes.buffer, bytes.buffer.byteLength]]);
  for (const { bytes: piece } of rest) held.set(piece.buffer, piece.buffer.byteLength);
  return held;
}
