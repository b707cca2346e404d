import { ownBytes } from '../../../runtime/own-bytes.ts';
import type { PooledBytes } from './buffer-pool.ts';
import type { TaggedBytes } from './tagged-bytes.ts';

/** An answer as it goes over the wire. */
export interface Form extends PooledBytes {
  status: number;
  /** What follows the bytes. */
  rest?: readonly Pick<TaggedBytes, 'bytes'>[];
  etag: string;
  headers: Readonly<Record<string, string>>;
}

/** An answer as it is made, and as it goes to clients that take no packed form. */
export interface Answer extends Form {
  rest?: readonly TaggedBytes[];
}

export const lengthOf = ({ bytes, rest = [] }: Form): number =>
  rest.reduce((sum, piece) => sum + piece.bytes.length, bytes.length);

/** All of it, as bytes. */
export const wholeOf = ({ bytes, rest }: Form): Buffer =>
  rest === undefined ? bytes : Buffer.concat([bytes, ...bytesOf(rest)]);

export const bytesOf = (pieces: readonly Pick<TaggedBytes, 'bytes'>[]): Buffer[] =>
  pieces.map(({ bytes }) => bytes);

/** The answer as it is kept, in bytes of its own. */
export function keptForm({ giveBack, ...answer }: Answer): Answer {
  const kept = { ...answer, bytes: ownBytes(answer.bytes) };
  giveBack?.();
  return kept;
}
