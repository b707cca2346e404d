import type { ServerResponse } from 'node:http';

/** Sends the head of a response and these bytes, and ends it. */
export type SendLarge = (response: ServerResponse, pieces: readonly Buffer[]) => void;

export interface LargeAnswersOptions {
  /** Answers that are sent side by side. */
  atOnce?: number;
  /** Calls back once the event loop has handled what came in meanwhile. */
  later?(call: () => void): void;
  /** Calls back so many milliseconds after it was begun or refreshed, unless it was ended. */
  startTimer?(call: () => void, ms: number): { refresh(): void; end(): void };
}

/** Handed to the system at once, which takes a millisecond; most systems take no more of a connection. */
export const PART_BYTES = 4 * 1024 * 1024;
const AT_ONCE = 2;
/** A client that has taken nothing of a part for this long reads at a pace of its own, and gives up its place. */
const PATIENCE_MS = 20;

/**
 * Sends large answers a part at a time, with all else in between, and only a few side by side, in the order in which
 * they came: twenty that share a thread and its memory would all end when the last does. A client that reads slowly
 * keeps no other waiting.
 */
export function createLargeAnswers({
  atOnce = AT_ONCE,
  later = (call) => void setImmediate(call),
  startTimer = realTimer,
}: LargeAnswersOptions = {}): SendLarge {
  const line: (() => void)[] = [];
  let placed = 0;
  const beginNext = () => {
    while (placed < atOnce) {
      const begin = line.shift();
      if (begin === undefined) return;
      placed += 1;
      begin();
    }
  };

  return (response, pieces) => {
    const parts = partsOf(pieces);
    let isPlaced = false;
    const leave = () => {
      if (!isPlaced) return;
      isPlaced = false;
      placed -= 1;
      beginNext();
    };
    line.push(() => {
      isPlaced = true;
      if (response.destroyed) return leave();
      const patience = startTimer(leave, PATIENCE_MS);
      response.once('close', () => {
        patience.end();
        leave();
      });
      const sendNext = () => {
        const { value: part, done } = parts.next();
        if (response.destroyed) return;
        if (done) response.end();
        else
          response.write(part, () => {
            patience.refresh();
            later(sendNext);
          });
      };
      sendNext();
    });
    beginNext();
  };
}

function* partsOf(pieces: readonly Buffer[]): Generator<Buffer, undefined> {
  for (const bytes of pieces)
    for (let at = 0; at < bytes.length; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
}

function realTimer(call: () => void, ms: number) {
  const timer = setTimeout(call, ms);
  return { refresh: () => void timer.refresh(), end: () => clearTimeout(timer) };
}
