import { describe, expect, test } from 'vitest';
import { challengeMessage } from '../../../../api/agent/session/message.ts';
import { makeNonce } from '../../../../api/agent/session/nonce.ts';
import { checkMessage } from '../../../../api/client/message.ts';
import { shown, shownJson, shownSentence } from '../../../../api/client/shown.ts';
import { testKey } from '../support/keys.ts';

const NOW = 1_790_000_000_000;
const OF = { service: 'bankroll-indexer', mint: testKey('mint').address, agent: testKey('agent').address };
const nonceAt = (millis: number) => makeNonce(Buffer.alloc(32), OF, millis);
const TERMS = {
  ...OF,
  publicUrl: 'https://x.example/',
  nonce: nonceAt(NOW - 1000),
  issuedAt: NOW - 1000,
};
const EXPECTED = { ...TERMS, service: null, now: NOW };
const MESSAGE = challengeMessage(TERMS);
const lines = MESSAGE.split('\n');
const withLine = (at: number, line: string) => lines.with(at, line).join('\n');

describe('a challenge message', () => {
  test('passes the check when it states what was requested; its issue time is returned', () => {
    expect(checkMessage(MESSAGE, EXPECTED)).toBe(TERMS.issuedAt);
    expect(checkMessage(MESSAGE, { ...EXPECTED, service: 'bankroll-indexer' })).toBe(TERMS.issuedAt);
  });

  test.each([
    ['is a transaction in base64', Buffer.alloc(200, 1).toString('base64')],
    ['has another first line', withLine(0, 'bankroll-indexer: transfer')],
    ['names another mint', withLine(2, `Mint: ${TERMS.agent}`)],
    ['names another key', withLine(3, `Agent: ${TERMS.mint}`)],
    ['names another address of the service', withLine(1, 'URL: https://evil.example')],
    ['names another nonce', withLine(4, 'Nonce: abc')],
    ['has a line more', `${MESSAGE}\nAlso: this`],
    ['ends with a line break', `${MESSAGE}\n`],
    ['has a line less', lines.slice(0, 6).join('\n')],
    ['has its lines in another order', [...lines].reverse().join('\n')],
    ['is not ASCII', withLine(0, 'bänkroll: agent session')],
    ['holds a carriage return', withLine(4, `Nonce: ${TERMS.nonce}\r`)],
    ['is issued an hour ago', challengeMessage({ ...TERMS, issuedAt: NOW - 3_600_000 })],
    ['is issued in the future', challengeMessage({ ...TERMS, issuedAt: NOW + 300_000 })],
    ['lives for a year', withLine(6, 'Expires: 2027-09-21T14:13:20.000Z')],
    ['is over', withLine(6, 'Expires: 2026-09-21T14:13:19.000Z')],
    ['has a time of another form', withLine(5, `Issued: ${NOW}`)],
    ['is very long', MESSAGE + 'x'.repeat(3000)],
  ])('is not signed when it %s', (_, message) => {
    expect(() => checkMessage(message, EXPECTED)).toThrow(/^not signed: /);
  });

  test.each([
    [null, EXPECTED.nonce],
    [[MESSAGE], EXPECTED.nonce],
    [{ length: 7 }, EXPECTED.nonce],
    [MESSAGE, undefined],
    [MESSAGE, [...Buffer.from(EXPECTED.nonce, 'base64url')]],
  ])('is not signed when the message or its nonce is not a string (%#)', (message, nonce) => {
    const expected = { ...EXPECTED, nonce: nonce as string };
    expect(() => checkMessage(message as string, expected)).toThrow(
      'not signed: the service sent no message',
    );
  });

  test('is not signed when its nonce was made at another time than the message states', () => {
    const nonce = nonceAt(TERMS.issuedAt - 1);
    const message = challengeMessage({ ...TERMS, nonce });
    expect(() => checkMessage(message, { ...EXPECTED, nonce })).toThrow('not signed: its nonce was made at');
  });

  test.each([
    '',
    'abc def',
    'I owe 5 SOL',
    'a:b',
    'x'.repeat(101),
    'abc=',
    'A'.repeat(74),
    `${TERMS.nonce}A`,
  ])('is not signed when its nonce is not formed as one, even if the message repeats it: "%s"', (nonce) => {
    const message = challengeMessage({ ...TERMS, nonce });
    expect(() => checkMessage(message, { ...EXPECTED, nonce })).toThrow(/^not signed: its nonce/);
  });

  test('text of a service is printed with control characters escaped, and a long sentence is cut', () => {
    const hostile = '\u001b[2Jgone\u0007 \u009b31m \u202etxt.exe \u2028 🦊';
    expect(shown(hostile)).toBe('\\u001b[2Jgone\\u0007 \\u009b31m \\u202etxt.exe \\u2028 🦊');
    const value = { text: hostile, list: ['\u{e0041}', '\ud800'] };
    expect(shownJson(value)).toMatch(/^[\x20-\x7e\n🦊]+$/u);
    expect(JSON.parse(shownJson(value))).toEqual(value);
    expect(shownSentence('x'.repeat(9_000))).toHaveLength(501);
  });

  test('is not signed when it names another service than the one expected', () => {
    expect(() => checkMessage(MESSAGE, { ...EXPECTED, service: 'another' })).toThrow(/^not signed: /);
  });
});
