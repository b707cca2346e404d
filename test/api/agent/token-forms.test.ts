import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { tokenHashesIn } from '../../../api/agent/session/token-forms.ts';

const TOKEN = randomBytes(32).toString('base64url');
const found = (text: string) => tokenHashesIn(text, (one) => one).includes(TOKEN);
const wide = [...TOKEN]
  .map((letter) =>
    /\w/.test(letter) && letter !== '_' ? String.fromCharCode(letter.charCodeAt(0) + 0xfee0) : letter,
  )
  .join('');
const bytes = Buffer.from(TOKEN);

describe(`a session token (${TOKEN})`, () => {
  test.each([
    ['as it is', TOKEN],
    ['inside a word', `abc${TOKEN}def`],
    ['letter by letter', [...TOKEN].join(' ')],
    ['in two lines', `${TOKEN.slice(0, 20)}\n${TOKEN.slice(20)}`],
    ['with invisible characters inside', [...TOKEN].join('\u200b')],
    ['with a mark on each letter', [...TOKEN].map((letter) => `${letter}\u0301`).join('')],
    ['with dots between its letters', [...TOKEN].join('.')],
    ['cut by words of another alphabet', `${TOKEN.slice(0, 9)}→${TOKEN.slice(9)}`],
    ['in wide letters', wide],
    ['in the other alphabet of base64', TOKEN.replaceAll('-', '+').replaceAll('_', '/')],
    ["in a page's escapes", [...bytes].map((byte) => `&#${byte};`).join('')],
    ["in a page's escapes, hexadecimal", [...bytes].map((byte) => `&#x${byte.toString(16)};`).join('')],
    ["in code's escapes", [...bytes].map((byte) => `\\x${byte.toString(16)}`).join('')],
    ["in code's longer escapes", [...bytes].map((byte) => `\\u00${byte.toString(16)}`).join('')],
    ['backwards', [...TOKEN].reverse().join('')],
    ['in escapes', [...bytes].map((byte) => `%${byte.toString(16)}`).join('')],
    ['in base64', bytes.toString('base64')],
    ['in base64url, behind a word', `read${bytes.toString('base64url')}`],
    ['in hex, behind a word', `ab${bytes.toString('hex')}`],
    ['in HEX, behind a digit', `1${bytes.toString('hex').toUpperCase()}`],
  ])('is found %s', (_, text) => {
    expect(found(text)).toBe(true);
  });

  test('is not found in other texts, and 1,000 equal letters yield one candidate', () => {
    expect(found(TOKEN.slice(1))).toBe(false);
    expect(found('thesis '.repeat(140))).toBe(false);
    expect(tokenHashesIn('a'.repeat(1_000), (one) => one)).toEqual(['a'.repeat(43)]);
  });
});
