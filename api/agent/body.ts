import { decodeKey } from '../../schemas/solana/base58.ts';
import { TOO_LARGE, WHY_TOO_LARGE } from '../http/body.ts';
import { Refusal } from './refusal.ts';

const TEXT_MAX = 1000;
const NAME_MAX = 200;

function invalid(sentence: string): Refusal {
  return new Refusal('invalid_request', sentence);
}

/** The fields of a body. @throws Refusal where it is no JSON object. */
export function fieldsOf(body: unknown): Record<string, unknown> {
  if (body === TOO_LARGE) throw new Refusal('too_large', WHY_TOO_LARGE);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('the body must be a JSON object');
  return body as Record<string, unknown>;
}

/** A public key, base58. @throws Refusal */
export function keyOf(body: unknown, name: string): { text: string; bytes: Uint8Array } {
  const value = fieldsOf(body)[name];
  const bytes = typeof value === 'string' ? decodeKey(value) : null;
  if (bytes === null) throw invalid(`${name} must be a base58 public key`);
  return { text: value as string, bytes };
}

/** A string of any content. @throws Refusal */
export function stringOf(body: unknown, name: string): string {
  const value = fieldsOf(body)[name];
  if (typeof value !== 'string') throw invalid(`${name} must be a string`);
  return value;
}

/** A string of 1 to `most` code points that a database and every reader can hold. @throws Refusal */
export function textOf(body: unknown, name: string, most = TEXT_MAX): string {
  const value = stringOf(body, name);
  if (!value.isWellFormed()) throw invalid(`${name} holds half a surrogate pair`);
  if (value.includes('\0')) throw invalid(`${name} holds a NUL character`);
  // A code point is one or two UTF-16 units: a text of more than twice `most` units needs no counting.
  if (value === '' || value.length > most * 2 || [...value].length > most)
    throw invalid(`${name} must be 1 to ${most} characters`);
  return value;
}

/** A name of something at a venue, or null where the field is null or not there. @throws Refusal */
export function nameOf(body: unknown, name: string): string | null {
  const value = fieldsOf(body)[name];
  return value === undefined || value === null ? null : textOf(body, name, NAME_MAX);
}

/** One of a closed list. @throws Refusal that lists it. */
export function oneOf<T extends string>(body: unknown, name: string, values: readonly T[]): T {
  const value = fieldsOf(body)[name];
  const known = values.find((candidate) => candidate === value);
  if (known === undefined) throw invalid(`${name} must be one of ${values.join(', ')}`);
  return known;
}
