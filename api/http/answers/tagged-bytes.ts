import { createHash } from 'node:crypto';
import { ownBytes } from '../../../runtime/own-bytes.ts';

/** Bytes that several answers end with, and their tag: both are made once for all of them. */
export interface TaggedBytes {
  bytes: Buffer;
  tag: string;
}

export function taggedBytes(text: string): TaggedBytes {
  const bytes = ownBytes(Buffer.from(text));
  return { bytes, tag: tagOf(bytes) };
}

export function tagOf(...parts: (Buffer | string)[]): string {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url');
}
