import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { messageOf } from '../../../runtime/errors.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { ReadingRecord } from '../../../schemas/records.ts';
import { jsonOf } from '../../../schemas/venues/decimal.ts';
import { documentUrl, readImage } from '../../../schemas/venues/metadata.ts';
import { isPublicAddress, lookupPublic } from './public-address.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

export interface DocumentOptions {
  ipfsGateway: string | null;
  allowPrivate: boolean;
  /** Of one exchange, the body included. */
  timeoutMs?: number;
  signal: AbortSignal;
}

/** Reads the document that a mint's metadata points to, for its image. Whatever comes is a reading, never a throw. */
export async function readDocument(
  mint: string,
  uri: string,
  options: DocumentOptions,
): Promise<ReadingRecord> {
  const reading = (imageUrl: string | null, error: string | null): ReadingRecord => ({
    kind: 'reading',
    readAt: Date.now(),
    reading: { type: 'metadata', mint, uri, imageUrl, error },
  });
  const target = documentUrl(uri, options.ipfsGateway, options.allowPrivate);
  if ('reason' in target) return reading(null, target.reason);
  try {
    const bytes = await fetchDocument(new URL(target.url), options);
    const image = readImage(jsonOf(bytes, 'metadata document'));
    const shown = documentUrl(image, options.ipfsGateway, true);
    return 'url' in shown
      ? reading(shown.url, null)
      : reading(null, shown.reason.replace('metadata', 'image'));
  } catch (error) {
    return reading(null, messageOf(error));
  }
}

async function fetchDocument(first: URL, options: DocumentOptions): Promise<Uint8Array> {
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await get(url, options);
    if (!('location' in answer)) return answer.bytes;
    if (!URL.canParse(answer.location, url.href))
      throw new MalformedError('metadata document', 'a redirect to no URL');
    const next = new URL(answer.location, url);
    const target = documentUrl(next.href, options.ipfsGateway, options.allowPrivate);
    if ('reason' in target) throw new MalformedError('metadata document', `redirected: ${target.reason}`);
    url = new URL(target.url);
  }
  throw new MalformedError('metadata document', `over ${MAX_REDIRECTS} redirects`);
}

type Answer = { bytes: Uint8Array } | { location: string };

function get(url: URL, { allowPrivate, signal, timeoutMs = TIMEOUT_MS }: DocumentOptions): Promise<Answer> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) {
    return Promise.reject(new MalformedError('metadata document', 'at a private address'));
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).get(url, {
      ...(allowPrivate ? {} : { lookup: lookupPublic }),
      headers: { accept: 'application/json' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      agent: false,
    });
    const fail = (reason: string) => {
      request.destroy();
      reject(new MalformedError('metadata document', reason));
    };
    const broken = (error: Error) => {
      const slow = error.name === 'AbortError' || error.name === 'TimeoutError';
      reject(slow ? new MalformedError('metadata document', `no answer in ${timeoutMs} ms`) : error);
    };
    request.on('error', broken);
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      const { location } = response.headers;
      if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
        request.destroy();
        return resolve({ location });
      }
      if (statusCode !== 200) return fail(`answered HTTP ${statusCode}`);
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) fail(`over ${MAX_BYTES} bytes`);
        else chunks.push(chunk);
      });
      response.on('end', () => resolve({ bytes: Buffer.concat(chunks) }));
      response.on('error', broken);
    });
  });
}
