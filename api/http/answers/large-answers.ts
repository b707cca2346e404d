import type { ServerResponse } from 'node:http';

/** Sends the head of a response and these bytes, and ends it. */
export type SendLarge = (response: ServerResponse, pieces: readonly Buffer[]) => void;

export interface LargeAnswersOptions {
  /** Sent side by side. */
  atOnce?: number;
  /** Calls back once what came meanwhile has been looked at. */
  later?(call: () => void): void;
  /** Calls back so many milliseconds after it was begun or refreshed, unless it was ended. */
  startTimer?(call: () => void, ms: number): { refresh(): void; end(): void };
}

/** As much is handed to the system at once, and most systems take no more of a connection: a millisecond. */
export const PART_BYTES = 4 * 1024 * 1024;
const AT_ONCE = 2;
/** Who has taken none of a part for so long reads at a pace of its own, and keeps no place for it. */
const PATIENCE_MS = 20;

/**
 * Sends large answers a part at a time, with all else in between, and the first of them before the others begin: twenty
 * that share a thread and its memory end all at once, when the last would have. Who reads slowly keeps nobody waiting.
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
