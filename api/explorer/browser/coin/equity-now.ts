import type { Figure } from '../../../../schemas/figure.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import { oldestOf } from '../history/rows.ts';

/** All that a policy holds, as old as the oldest part of it; absent with the reason of the first part that is. */
export function equityNow({ bankrollUnspent, local, remote }: LoopResponse['step4_deployed']): Figure {
  const parts = [bankrollUnspent, local, remote];
  const missing = parts.find(({ absent }) => absent === true);
  if (missing !== undefined) return { ...missing, source: 'computed' };
  const value = parts.reduce((sum, part) => sum + BigInt(part.value ?? 0), 0n).toString();
  return { value, source: 'computed', asOf: oldestOf(parts) };
}
