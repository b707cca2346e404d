import type { OwnCall } from './own-calls.ts';
import type { Call } from './parts.ts';

/** Bytes that the program emitted as an event, and the call that did; undefined where the logs do not tell. */
export interface Emission {
  bytes: Uint8Array;
  call: Call | undefined;
  /** False where its line was no base64, so that `bytes` is the line itself. */
  whole: boolean;
}

/** A running program on the log stack: a call of ours, ours in a call that is not in the tree, or another program. */
type Frame = OwnCall | 'ours' | 'other';

const PROGRAM = 'Program ';
const DATA = 'Program data: ';
export const CUT = 'Log truncated';
/** First letters of what the runtime says of a program: invoke, success, failed; `consumed` says nothing here. */
const INVOKE = 0x69;
const SUCCESS = 0x73;
const FAILED = 0x66;
/**
 * No `invoke` and no `success` line is longer. The runtime drops a line that does not fit and goes on to print
 * shorter ones, so behind a cut only a line longer than these proves that none of these is missing before it.
 */
const LONGEST_FRAME_LINE = 72;

/**
 * Whether the logs were cut, or none kept: by the runtime, which says so, or silently on the way from it. A transaction
 * that succeeded prints the beginning and the end of each call.
 * @param own how many calls the program, by its base58 id, has in the tree.
 */
export function logsCut(logs: readonly string[] | null, own: number, program: string): boolean {
  if (logs === null || logs.length === 0 || logs.includes(CUT)) return true;
  const begun = ownCallsBegun(logs, program);
  return begun < own || printed(logs, program, 'success') < begun;
}

/** How many calls of a program, by its base58 id, the logs show the beginning of. */
export function ownCallsBegun(logs: readonly string[], program: string): number {
  return printed(logs, program, 'invoke');
}

const printed = (logs: readonly string[], program: string, what: string): number =>
  logs.filter((line) => line.startsWith(`${PROGRAM}${program} ${what}`)).length;

/** How many calls the logs show the beginning of, of whatever program. */
export function callsBegun(logs: readonly string[]): number {
  let begun = 0;
  for (const line of logs) {
    if (!line.startsWith(PROGRAM)) continue;
    const end = line.indexOf(' ', PROGRAM.length);
    if (isOfRuntime(end) && line.startsWith('invoke [', end + 1)) begun += 1;
  }
  return begun;
}

/**
 * What the program emitted in execution order: log lines printed while it runs (`emit!`) and self-calls (`emit_cpi!`),
 * found by walking the log stack beside the calls. The k-th `invoke` line of the program belongs to its k-th call:
 * only precompiles print none.
 * @param program base58 id of the program whose calls `own` are.
 */
export function walkLogs(logs: readonly string[], own: readonly OwnCall[], program: string): Emission[] {
  const found: Emission[] = [];
  const stack: Frame[] = [];
  let next = 0;
  let cut = false;

  const pass = (entry: OwnCall): void => {
    if (entry.event !== null) found.push({ bytes: entry.event, call: entry.caller, whole: true });
  };
  const enter = (depth: number): Frame => {
    let at = next;
    while (at < own.length && own[at]?.call.depth !== depth) at += 1;
    if (at === own.length) return 'ours';
    for (; next <= at; next += 1) pass(own[next] as OwnCall);
    return own[at] as OwnCall;
  };

  for (const line of logs) {
    if (line === CUT) cut = true;
    if (!line.startsWith(PROGRAM)) continue;
    const end = line.indexOf(' ', PROGRAM.length);
    if (end === DATA.length - 1 && line.startsWith(DATA)) {
      const frame = stack.at(-1);
      if (frame === undefined || frame === 'other' || (cut && line.length <= LONGEST_FRAME_LINE)) continue;
      found.push(emission(line, frame === 'ours' ? undefined : frame.call));
    }
    if (!isOfRuntime(end)) continue;
    switch (line.charCodeAt(end + 1)) {
      case INVOKE: {
        const depth = depthOf(line);
        while (stack.length < depth - 1) stack.push('other');
        stack.length = depth - 1;
        stack.push(isOurs(line, end, program) ? enter(depth) : 'other');
        break;
      }
      case SUCCESS:
      case FAILED:
        stack.pop();
    }
  }
  // Calls behind the last line: the tree has their self-calls though the logs do not.
  for (; next < own.length; next += 1) pass(own[next] as OwnCall);
  return found;
}

/**
 * Whether a line is the runtime's about a program: what programs print themselves stands behind "log:", "data:" or
 * "return:", which are shorter than any id.
 * @param end where the word behind "Program" ends
 */
const isOfRuntime = (end: number): boolean => end >= PROGRAM.length + 32;

function isOurs(line: string, end: number, program: string): boolean {
  return end - PROGRAM.length === program.length && line.startsWith(program, PROGRAM.length);
}

/** The number at the end of `Program <id> invoke [<depth>]`; the runtime nests calls nine deep at most. */
function depthOf(line: string): number {
  const ones = line.charCodeAt(line.length - 2) - 48;
  const tens = line.charCodeAt(line.length - 3) - 48;
  const depth = tens > 0 && tens < 10 ? tens * 10 + ones : ones;
  return Math.min(Math.max(depth, 1), 64);
}

function emission(line: string, call: Call | undefined): Emission {
  const text = line.slice(DATA.length);
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  // The decoder skips what is no base64, so the length shows whether there was any.
  const whole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding;
  return { bytes: whole ? bytes : Buffer.from(text), call, whole };
}
