import { createHash } from 'node:crypto';

/** Bytes that several answers end with, and their tag: neither is made again with each of them. */
export interface TaggedBytes {
  bytes: Buffer;
  tag: string;
}

export function taggedBytes(text: string): TaggedBytes {
  const bytes = Buffer.from(text);
  return { bytes, tag: tagOf(bytes) };
}

export function tagOf(...parts: (Buffer | string)[]): string {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return hash.digest('base64url');
}
