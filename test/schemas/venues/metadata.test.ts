import { expect, test } from 'vitest';
import { MalformedError } from '../../../schemas/malformed.ts';
import { documentUrl, readImage } from '../../../schemas/venues/metadata.ts';

test.each([
  ['https://x.example/a.json', { url: 'https://x.example/a.json' }],
  ['ar://abc', { url: 'https://arweave.net/abc' }],
  ['ipfs://bafy/1.json', { url: 'https://gateway.example/ipfs/bafy/1.json' }],
  ['ipfs://ipfs/bafy', { url: 'https://gateway.example/ipfs/bafy' }],
  ['http://x.example/a.json', { reason: 'the metadata uri has the scheme http:' }],
  ['file:///etc/passwd', { reason: 'the metadata uri has the scheme file:' }],
  ['data:application/json,{}', { reason: 'the metadata uri has the scheme data:' }],
  ['a.json', { reason: 'the metadata uri is no URL' }],
  ['', { reason: 'the metadata uri is no URL' }],
  [`https://x.example/${'a'.repeat(2_000)}`, { reason: 'the metadata uri is no URL' }],
])(
  'the metadata uri %.60s gives the URL of the document, or the reason why there is none',
  (uri, expected) => {
    expect(documentUrl(uri, 'https://gateway.example', false)).toEqual(expected);
  },
);

test('a plain http uri is accepted only where it is allowed, and an ipfs uri needs a gateway', () => {
  expect(documentUrl('http://127.0.0.1/a.json', null, true)).toEqual({ url: 'http://127.0.0.1/a.json' });
  expect(documentUrl('ipfs://bafy', null, true)).toEqual({
    reason: 'the metadata is on ipfs and IPFS_GATEWAY is not set',
  });
});

// A document may name an image over plain http, which readers' browsers fetch; the document itself may not be.
test.each(['https://x.example/a.png', 'http://x.example/a.png', 'ipfs://bafy', 'ar://abc'])(
  'the image %s of a document is taken as it is',
  (image) => {
    expect(readImage({ image })).toBe(image);
  },
);

test.each([
  ['java\nscript:alert(1)', 'image of the scheme javascript:'],
  ['data:image/svg+xml,x', 'image of the scheme data:'],
  ['blob:https://x.example/a', 'image of the scheme blob:'],
  ['file:///a.png', 'image of the scheme file:'],
  ['ftp://x.example/a.png', 'image of the scheme ftp:'],
  ['//x.example/a.png', 'image is no URL'],
  ['a.png', 'image is no URL'],
  ['', 'no image'],
  [5, 'no image'],
  [null, 'no image'],
  [undefined, 'no image'],
])('a document with the image %j is malformed', (image, reason) => {
  expect(() => readImage({ image })).toThrow(new MalformedError('metadata document', reason));
});

test('characters of an image URL that could break out of HTML are percent-encoded', () => {
  expect(readImage({ image: 'https://x.example/"><script>\u0000\u2028' })).toBe(
    'https://x.example/%22%3E%3Cscript%3E%00%E2%80%A8',
  );
});
