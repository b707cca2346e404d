import { redacted } from '../../../runtime/config/secrets.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Check } from './checks.ts';

const LIMIT_MS = 15_000;

/** Runs all checks at once and prints a line for each, in their order. @returns how many failed */
export async function runChecks(
  checks: readonly Check[],
  print: (line: string) => void,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<number> {
  const width = Math.max(...checks.map(({ variable }) => variable.length));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const running = checks.map(async ({ run }) => {
    if (run === null) return [{ mark: 'unset', text: '' }];
    return run(limit).then(
      (found) => (typeof found === 'string' ? [{ mark: 'ok', text: found }] : found),
      (error: unknown) => [{ mark: 'failed', text: messageOf(error) || 'no answer' }],
    );
  });
  let failed = 0;
  for (const [index, { variable }] of checks.entries()) {
    for (const { mark, text } of (await running[index]) ?? []) {
      if (mark === 'failed') failed += 1;
      print(`${mark.padEnd(7)} ${variable.padEnd(width)}  ${oneLine(text)}`.trimEnd());
    }
  }
  return failed;
}

/** Text from outside may not send control characters to the terminal. */
function oneLine(text: string): string {
  return redacted(text)
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .slice(0, 300);
}
