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

test('an image is a URL of the web, ipfs or arweave; scripts, data URLs and anything else are malformed', () => {
  for (const image of ['https://x.example/a.png', 'ipfs://bafy', 'ar://abc']) {
    expect(readImage({ image })).toBe(image);
  }
  // A browser would drop the line break and run the rest.
  for (const image of ['java\nscript:alert(1)', 'data:image/svg+xml,x', '', 5, null, undefined, 'a.png']) {
    expect(() => readImage({ image })).toThrow(MalformedError);
  }
});

test('characters of an image URL that could break out of HTML are percent-encoded', () => {
  expect(readImage({ image: 'https://x.example/"><script>\u0000\u2028' })).toBe(
    'https://x.example/%22%3E%3Cscript%3E%00%E2%80%A8',
  );
});
