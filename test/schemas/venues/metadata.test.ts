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
])('the document of %.60s is found, or the reason says why not', (uri, expected) => {
  expect(documentUrl(uri, 'https://gateway.example', false)).toEqual(expected);
});

test('plain http counts where private addresses do, and ipfs needs a gateway', () => {
  expect(documentUrl('http://127.0.0.1/a.json', null, true)).toEqual({ url: 'http://127.0.0.1/a.json' });
  expect(documentUrl('ipfs://bafy', null, true)).toEqual({
    reason: 'the metadata is on ipfs and IPFS_GATEWAY is not set',
  });
});

test('an image is an address of the web, ipfs or arweave', () => {
  for (const image of ['https://x.example/a.png', 'ipfs://bafy', 'ar://abc']) {
    expect(readImage({ image })).toBe(image);
  }
  // A browser would drop the line break and run the rest.
  for (const image of ['java\nscript:alert(1)', 'data:image/svg+xml,x', '', 5, null, undefined, 'a.png']) {
    expect(() => readImage({ image })).toThrow(MalformedError);
  }
});

test('what an image address holds cannot break out of where it is shown', () => {
  expect(readImage({ image: 'https://x.example/"><script>\u0000\u2028' })).toBe(
    'https://x.example/%22%3E%3Cscript%3E%00%E2%80%A8',
  );
});
