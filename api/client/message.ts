/** What a message to be signed must say, and nothing else. */
export interface ExpectedMessage {
  /** The service's own address, as it stands in its messages. */
  publicUrl: string;
  mint: string;
  agent: string;
  nonce: string;
  /** Checked where it is given. */
  service: string | null;
  /** Unix milliseconds. */
  now: number;
}

/** The message is not one that this key may sign. */
export class UnsafeMessageError extends Error {
  override name = 'UnsafeMessageError';
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const CLOCKS_MS = 2 * 60_000;
const LIFETIME_MS = 10 * 60_000;
const MAX_LENGTH = 2_000;
/** Issue time, 16 random bytes, a MAC. Any other text may not pass for a nonce, or the key would sign what it says. */
const NONCE_BYTES = 8 + 16 + 32;
const SERVICE = /^([a-z0-9.-]{1,64}): agent session$/;

/**
 * Reads the message line by line: the key that signs it can move funds, so it signs no text but this one.
 * @returns when it was issued, in unix milliseconds of the service's clock.
 * @throws UnsafeMessageError that says what is wrong with it.
 */
export function checkMessage(message: string, expected: ExpectedMessage): number {
  const unsafe = (what: string) => new UnsafeMessageError(`not signed: ${what}`);
  // Both are what a service sent, so their types are not guaranteed.
  if (typeof message !== 'string' || typeof expected.nonce !== 'string')
    throw unsafe('the service sent no message with a nonce');
  if (message.length > MAX_LENGTH || !/^[\x20-\x7e\n]+$/.test(message))
    throw unsafe('the message is too long or not printable ASCII');
  const nonceTime = nonceTimeOf(expected.nonce);
  if (nonceTime === null) throw unsafe('its nonce is not one that a service makes');
  const lines = message.split('\n');
  const service = SERVICE.exec(lines[0] ?? '')?.[1];
  if (service === undefined || (expected.service !== null && service !== expected.service))
    throw unsafe('its first line names no agent session of the service');
  const wanted = [
    ['URL', new URL(expected.publicUrl).href.replace(/\/+$/, '')],
    ['Mint', expected.mint],
    ['Agent', expected.agent],
    ['Nonce', expected.nonce],
  ] as const;
  wanted.forEach(([label, value], at) => {
    const line = lines[at + 1];
    if (line !== `${label}: ${value}`)
      throw unsafe(`its ${label} line is "${line}", not "${label}: ${value}"`);
  });
  const issued = timeOf(lines[5], 'Issued: ');
  const expires = timeOf(lines[6], 'Expires: ');
  if (lines.length !== 7 || issued === null || expires === null)
    throw unsafe('it is not exactly seven lines that end with two times');
  if (nonceTime !== BigInt(issued)) throw unsafe('its nonce was made at another time than it says');
  if (Math.abs(issued - expected.now) > CLOCKS_MS)
    throw unsafe('it was not issued just now; is the clock of this machine right?');
  if (expires <= expected.now || expires - issued > LIFETIME_MS)
    throw unsafe('it is not for the next ten minutes');
  return issued;
}

function nonceTimeOf(nonce: string): bigint | null {
  const bytes = Buffer.from(nonce, 'base64url');
  return bytes.length === NONCE_BYTES && bytes.toString('base64url') === nonce
    ? bytes.readBigUInt64BE()
    : null;
}

function timeOf(line: string | undefined, label: string): number | null {
  if (line?.startsWith(label) !== true || !TIME.test(line.slice(label.length))) return null;
  const millis = Date.parse(line.slice(label.length));
  return Number.isNaN(millis) ? null : millis;
}
