import { randomBytes } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { preferredEncoding } from '../../../api/http/answers/accept-encoding.ts';
import { answerOf } from '../../../api/http/answers/answers.ts';
import { type Answer, type Form, wholeOf } from '../../../api/http/answers/forms.ts';
import { createPackedAnswers } from '../../../api/http/answers/packed-answers.ts';
import { taggedBytes } from '../../../api/http/answers/tagged-bytes.ts';

const MAX_BYTES = 1_000_000;
const LARGE = 100_000;
const AT_HAND = 20_000;

const answer = (bytes: number, text = 'x'): Answer =>
  answerOf({ status: 200, body: Buffer.from(text.padEnd(bytes, '.')) });

const unpacked = (form: Form): Buffer => {
  const encoding = form.headers['Content-Encoding'];
  const bytes = wholeOf(form);
  if (encoding === undefined) return bytes;
  return encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes);
};

test.each(['br', 'gzip'])(
  'kept %s output holds no buffer that is larger than its bytes',
  async (encoding) => {
    const packed = createPackedAnswers(MAX_BYTES);
    const pieces = Array.from({ length: 100 }, (_, at) => taggedBytes(`${at}`.padEnd(2_000, '.')));
    const ofPieces = encoding === 'gzip' ? [{ ...answer(AT_HAND), rest: pieces }] : [];
    const answers = [answer(AT_HAND), answer(LARGE), ...ofPieces];
    for (const one of answers) {
      const form = await packed.formFor(one, encoding, false);
      const kept = [form.bytes, ...(form.rest ?? []).map(({ bytes }) => bytes)].filter(
        ({ length }) => length > 20,
      );
      expect(kept.length).toBeGreaterThan(0);
      expect(kept.map(({ buffer }) => buffer.byteLength)).toEqual(kept.map(({ length }) => length));
    }
    expect(pieces.map(({ bytes }) => bytes.buffer.byteLength)).toEqual(pieces.map(() => 2_000));
  },
);

describe('the encoding that a client prefers', () => {
  test.each([
    ['', null],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;Q=0.8 , BR ; q=0.2', 'gzip'],
    ['br;q=0, gzip;q=0.001', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['*', 'br'],
    ['*, br;q=0', 'gzip'],
    ['*;q=0', null],
    ['gzip;q=0, *;q=0', null],
    ['deflate, zstd', null],
    ['identity', null],
    ['identity, gzip', 'gzip'],
    ['identity;q=1, gzip;q=0.9', null],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity;q=0', null],
    ['identity;q=0.5, *;q=0.4', null],
  ])('for Accept-Encoding "%s" is %s', (header, encoding) => {
    expect(preferredEncoding(header)).toBe(encoding);
  });

  test.each([
    [',,;;=,;q=', null],
    ['br;q=2', null],
    ['br;q=-1', null],
    ['br;q=1.5', null],
    ['br;q=0.1234', null],
    ['br;q=NaN, gzip', 'gzip'],
    ['br;level=5', null],
    ['gzip;q=1;q=0', null],
    ['constructor, __proto__', null],
    [`${'br;'.repeat(5_000)}`, null],
  ])('ignores what is malformed in Accept-Encoding (case %#)', (header, encoding) => {
    expect(preferredEncoding(header)).toBe(encoding);
  });
});

describe('an answer and its compressed forms', () => {
  test('the ETag of an answer in two parts depends on both of them', () => {
    const of = (start: string, end: string) =>
      answerOf({ status: 200, body: Buffer.from(start), rest: [taggedBytes(end)] });
    const [long, other] = ['x'.repeat(LARGE), 'y'.repeat(LARGE)];
    const tags = [of('start', long), of('other', long), of('start', other)].map(({ etag }) => etag);
    expect(new Set(tags).size).toBe(3);
    expect(of('start', long).etag).toBe(tags[0]);
  });

  test.each(['br', 'gzip'])(
    'a large answer compressed with %s has the same content in fewer bytes, under a weak ETag',
    async (encoding) => {
      const packed = createPackedAnswers(MAX_BYTES);
      const plain = answer(LARGE);
      const form = await packed.formFor(plain, encoding, false);
      expect(form.headers).toEqual({ 'Content-Encoding': encoding, Vary: 'Accept-Encoding' });
      expect(form.etag).toBe(`W/${plain.etag}`);
      expect(form.bytes.length).toBeLessThan(plain.bytes.length);
      expect(unpacked(form).equals(plain.bytes as Buffer)).toBe(true);
    },
  );

  test('a small answer is sent uncompressed, without waiting', () => {
    const small = answer(8_000);
    expect(createPackedAnswers(MAX_BYTES).formFor(small, 'br', false)).toBe(small);
  });

  test.each(['br', 'gzip'] as const)(
    'a medium-sized answer is compressed with %s without waiting, and the result is kept',
    (encoding) => {
      const packed = createPackedAnswers(MAX_BYTES, 0);
      const plain = answer(AT_HAND);
      const form = packed.formFor(plain, encoding, false) as Answer;
      expect([form.headers['Content-Encoding'], form.etag]).toEqual([encoding, `W/${plain.etag}`]);
      expect(unpacked(form).equals(plain.bytes as Buffer)).toBe(true);
      expect((packed.formFor(answer(AT_HAND), encoding, false) as Answer).bytes).toBe(form.bytes);
    },
  );

  test('a large answer that is sent uncompressed has the header Vary: Accept-Encoding', async () => {
    const plain = answer(LARGE);
    const form = await createPackedAnswers(MAX_BYTES).formFor(plain, 'br;q=0', false);
    expect(form).toEqual({ ...plain, headers: { Vary: 'Accept-Encoding' } });
  });

  test('a form is made once for concurrent requests, and is available without waiting afterwards', async () => {
    const packed = createPackedAnswers(MAX_BYTES);
    const plain = answer(LARGE);
    const forms = await Promise.all([packed.formFor(plain, 'br', false), packed.formFor(plain, 'br', false)]);
    const again = packed.formFor(answer(LARGE), 'br', false) as Answer;
    expect(new Set([...forms, again].map((form) => form.bytes)).size).toBe(1);
  });

  test('while as many answers as allowed are being compressed, the next ones are sent uncompressed', async () => {
    const packed = createPackedAnswers(MAX_BYTES, 2);
    const plain = ['a', 'b', 'c', 'd'].map((text) => answer(LARGE, text));
    const forms = await Promise.all(plain.map((one) => packed.formFor(one, 'gzip', false)));
    expect(forms.map(({ headers }) => headers['Content-Encoding'])).toEqual([
      'gzip',
      'gzip',
      undefined,
      undefined,
    ]);
    for (const [at, form] of forms.entries())
      expect(unpacked(form).equals(plain[at]?.bytes as Buffer)).toBe(true);
    expect((await packed.formFor(answer(LARGE, 'e'), 'gzip', false)).headers['Content-Encoding']).toBe(
      'gzip',
    );
  });

  test('kept forms are bounded in bytes: the least recently used are made again', async () => {
    const packed = createPackedAnswers(400_000);
    const plain = Array.from({ length: 4 }, () => answerOf({ status: 200, body: randomBytes(160_000) }));
    for (const one of plain) await packed.formFor(one, 'gzip', false);
    const isKept = plain.map((one) => !(packed.formFor(one, 'gzip', false) instanceof Promise));
    expect(isKept).toEqual([false, false, true, true]);
  });
});
