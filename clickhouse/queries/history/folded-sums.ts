import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { QuoteSumsAt } from './quote-sums.ts';

/** The sums at the end of one step, those of each quote asset: 90 bytes of one, whose text is 450. */
export type FoldedSums = Buffer;

/** Level 6 takes twice as long for a tenth less. @param text as it is kept of an hour */
export function foldSums(text: string): FoldedSums {
  const folded = deflateRawSync(text, { level: 1 });
  // It is a piece of what was made ready for more.
  const own = Buffer.allocUnsafeSlow(folded.length);
  folded.copy(own);
  return own;
}

export const unfoldSums = (folded: FoldedSums): QuoteSumsAt[] =>
  JSON.parse(inflateRawSync(folded).toString()) as QuoteSumsAt[];
