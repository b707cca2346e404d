import { codeOf, type ProgramErrorName } from '../program/errors.ts';
import type { Frame } from './frames.ts';

const BUDGET = 200_000;

/** Where a transaction stopped: the path of frames from the top to the one whose rule failed. */
export interface Failure {
  error: ProgramErrorName;
  path: readonly Frame[];
}

function hexCode(error: ProgramErrorName): string {
  return `0x${codeOf(error).toString(16)}`;
}

function print(frame: Frame, depth: number, failure: Failure | null, lines: string[]): boolean {
  if (frame.prints === 'nothing') return true;
  const failing = failure?.path.includes(frame) ?? false;
  lines.push(`Program ${frame.program} invoke [${depth}]`);
  for (const part of frame.body) {
    if (typeof part === 'string') lines.push(part);
    else if (!print(part, depth + 1, failure, lines)) break;
  }
  if (failing && failure !== null && failure.path.at(-1) === frame) {
    const number = codeOf(failure.error);
    lines.push(
      `Program log: AnchorError occurred. Error Code: ${failure.error}. Error Number: ${number}. Error Message: ${failure.error}.`,
    );
  }
  if (frame.prints === 'all') {
    const used = 1_200 + frame.data.length * 31 + frame.metas.length * 640;
    lines.push(`Program ${frame.program} consumed ${used} of ${BUDGET} compute units`);
  }
  if (failing && failure !== null) {
    lines.push(`Program ${frame.program} failed: custom program error: ${hexCode(failure.error)}`);
    return false;
  }
  lines.push(`Program ${frame.program} success`);
  return true;
}

/** Log output of a transaction's top-level frames, up to where it failed. */
export function logLines(frames: readonly Frame[], failure: Failure | null): string[] {
  const lines: string[] = [];
  for (const frame of frames) if (!print(frame, 1, failure, lines)) break;
  return lines;
}

/**
 * Cuts log lines at a number of bytes as the runtime does: a line that does not fit is dropped, and shorter ones
 * behind it may still fit.
 */
export function cutLines(lines: readonly string[], limitBytes: number): string[] {
  const kept: string[] = [];
  let written = 0;
  let warned = false;
  for (const line of lines) {
    if (written + line.length < limitBytes) {
      written += line.length;
      kept.push(line);
    } else if (!warned) {
      warned = true;
      kept.push('Log truncated');
    }
  }
  return kept;
}
