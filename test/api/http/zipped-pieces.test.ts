import { randomBytes } from 'node:crypto';
import { crc32, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { answerOf } from '../../../api/http/answers/answers.ts';
import { combineCrc32 } from '../../../api/http/answers/crc32.ts';
import { type Form, wholeOf } from '../../../api/http/answers/forms.ts';
import { createPackedAnswers } from '../../../api/http/answers/packed-answers.ts';
import { type TaggedBytes, taggedBytes } from '../../../api/http/answers/tagged-bytes.ts';
import { createRandom } from '../../support/random.ts';

const SEED = 20_261_124;
const MAX_BYTES = 4_000_000;
const LARGE = 100_000;

const answer = (head: string, rest: readonly TaggedBytes[]) =>
  answerOf({ status: 200, body: Buffer.from(head), rest });

/** A piece of text that compresses badly. */
const noise = (bytes: number): TaggedBytes => taggedBytes(randomBytes(Math.ceil(bytes / 2)).toString('hex'));

const partsOf = (form: Form): Buffer[] => (form.rest ?? []).map(({ bytes }) => bytes);

test(`the CRC-32s of two parts combine to that of the whole, whatever their lengths (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  for (let turn = 0; turn < 300; turn += 1) {
    const bytes = randomBytes(Math.floor(random() ** 3 * 70_000));
    const cut = Math.floor(random() * (bytes.length + 1));
    const [first, second] = [bytes.subarray(0, cut), bytes.subarray(cut)];
    expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(crc32(bytes));
  }
});

test('combining a CRC-32 over 5 GiB at once equals combining it over five parts', () => {
  const [first, all] = [crc32('first'), 5 * 2 ** 30];
  let inParts = first;
  for (let part = 0; part < 5; part += 1) inParts = combineCrc32(inParts, 0, all / 5);
  expect(combineCrc32(first, 0, all)).toBe(inParts);
  expect(inParts).not.toBe(first);
});

describe('an answer in pieces', () => {
  test(`becomes one gzip stream with all of its content, whatever its pieces (seed ${SEED})`, async () => {
    const random = createRandom(SEED);
    const packed = createPackedAnswers(MAX_BYTES);
    const known = Array.from({ length: 12 }, () => noise(random() ** 4 * 300_000));
    for (let turn = 0; turn < 40; turn += 1) {
      const rest = Array.from({ length: Math.floor(random() * 9) }, () =>
        random() < 0.7
          ? (known[Math.floor(random() * known.length)] as TaggedBytes)
          : noise(random() * 2_000),
      );
      const plain = answer(`head ${turn} ${'h'.repeat(random() * 100_000)}`, rest);
      const form = await packed.formFor(plain, 'gzip', false);
      const isPacked = form.headers['Content-Encoding'] === 'gzip';
      const bytes = isPacked ? gunzipSync(wholeOf(form)) : wholeOf(form);
      expect(bytes.equals(wholeOf(plain))).toBe(true);
      if (wholeOf(plain).length > 64 * 1024) expect([isPacked, form.etag]).toEqual([true, `W/${plain.etag}`]);
    }
  });

  test('has each piece compressed once, for concurrent requests and for other answers with that piece', async () => {
    const packed = createPackedAnswers(MAX_BYTES);
    const [first, second, other] = [noise(LARGE), noise(LARGE), noise(LARGE)];
    const [one, same] = await Promise.all([
      packed.formFor(answer('one', [first, second]), 'gzip', false),
      packed.formFor(answer('one', [first, second]), 'gzip', false),
    ]);
    // The first is the head.
    expect(partsOf(same).slice(1, 3)).toEqual(partsOf(one).slice(1, 3));
    expect(partsOf(same)[1]).toBe(partsOf(one)[1]);
    const next = await packed.formFor(answer('two', [first, other]), 'gzip', false);
    expect(partsOf(next)[1]).toBe(partsOf(one)[1]);
    expect(gunzipSync(wholeOf(next)).equals(wholeOf(answer('two', [first, other])))).toBe(true);
  });

  test('is compressed without waiting if only its head is new', async () => {
    const packed = createPackedAnswers(MAX_BYTES);
    const rest = [noise(LARGE), noise(LARGE)];
    await packed.formFor(answer('one', rest), 'gzip', false);
    const form = packed.formFor(answer('two', rest), 'gzip', false) as Form;
    expect(gunzipSync(wholeOf(form)).equals(wholeOf(answer('two', rest)))).toBe(true);
  });

  test('is sent uncompressed, with Vary, to a client that accepts only `br`', async () => {
    const plain = answer('one', [noise(LARGE)]);
    const form = await createPackedAnswers(MAX_BYTES).formFor(plain, 'br', false);
    expect(form).toEqual({ ...plain, headers: { Vary: 'Accept-Encoding' } });
  });

  test('is sent uncompressed while as many others as allowed are being compressed, unless it is one of them', async () => {
    const packed = createPackedAnswers(MAX_BYTES, 2);
    const plain = [0, 1, 2].map((at) => answer(`${at}`, [noise(LARGE)]));
    const asked = [...plain, ...plain.slice(0, 1)];
    const forms = await Promise.all(asked.map((one) => packed.formFor(one, 'gzip', false)));
    expect(forms.map(({ headers }) => headers['Content-Encoding'])).toEqual([
      'gzip',
      'gzip',
      undefined,
      'gzip',
    ]);
  });

  test('keeps compressed pieces up to a bound in bytes, and compresses dropped ones again', async () => {
    const packed = createPackedAnswers(200_000);
    const plain = Array.from({ length: 4 }, (_, at) => answer(`${at}`, [noise(150_000)]));
    for (const one of plain) await packed.formFor(one, 'gzip', false);
    const isKept = plain.map((one) => !(packed.formFor(one, 'gzip', false) instanceof Promise));
    expect(isKept).toEqual([false, false, true, true]);
  });
});
