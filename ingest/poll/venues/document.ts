import http from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { holdsNoSecret } from '../../../runtime/config/secrets.ts';
import { upstreamWords } from '../../../runtime/outside/upstream.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { Reading } from '../../../schemas/readings.ts';
import type { ReadingRecord } from '../../../schemas/records.ts';
import { jsonOf } from '../../../schemas/venues/decimal.ts';
import { documentUrl, readImage } from '../../../schemas/venues/metadata.ts';
import { nameLookup } from './name-lookup.ts';
import { isPublicAddress } from './public-address.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

type DocumentRecord = ReadingRecord & { reading: Extract<Reading, { type: 'metadata' }> };

export interface DocumentOptions {
  ipfsGateway: string | null;
  allowPrivate: boolean;
  /** Of all of it: names, redirects and bodies. */
  timeoutMs?: number;
  nameServers?: readonly string[];
  /** The image of the last good reading of this uri: a failure leaves it standing. */
  known?: string | null;
  signal: AbortSignal;
}

/** Reads the document that a mint's metadata points to, for its image. Whatever comes is a reading, never a throw. */
export async function readDocument(
  mint: string,
  uri: string,
  options: DocumentOptions,
): Promise<DocumentRecord> {
  const reading = (imageUrl: string | null, error: string | null): DocumentRecord => ({
    kind: 'reading',
    readAt: Date.now(),
    reading: { type: 'metadata', mint, uri, imageUrl, error },
  });
  const { known = null, timeoutMs = TIMEOUT_MS } = options;
  const target = documentUrl(uri, options.ipfsGateway, options.allowPrivate);
  if ('reason' in target) return reading(null, target.reason);
  try {
    const deadline = AbortSignal.any([options.signal, AbortSignal.timeout(timeoutMs)]);
    const bytes = await fetchDocument(new URL(target.url), options, deadline);
    const image = readImage(jsonOf(bytes, 'metadata document'));
    const shown = documentUrl(image, options.ipfsGateway, true);
    if ('reason' in shown) return reading(null, shown.reason.replace('metadata', 'image'));
    const url = withoutLogin(shown.url);
    return holdsNoSecret(url)
      ? reading(url, null)
      : reading(null, 'the image stands behind a key of IPFS_GATEWAY');
  } catch (error) {
    return reading(known, upstreamWords(error));
  }
}

/** A gateway's login is nobody's to know. */
function withoutLogin(text: string): string {
  const url = new URL(text);
  url.username = '';
  url.password = '';
  return url.href;
}

async function fetchDocument(
  first: URL,
  options: DocumentOptions,
  deadline: AbortSignal,
): Promise<Uint8Array> {
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await get(url, options, deadline);
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

function get(url: URL, options: DocumentOptions, signal: AbortSignal): Promise<Answer> {
  const { allowPrivate, nameServers } = options;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) {
    return Promise.reject(new MalformedError('metadata document', 'at a private address'));
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).get(url, {
      lookup: nameLookup({
        publicOnly: !allowPrivate,
        signal,
        ...(nameServers === undefined ? {} : { nameServers }),
      }),
      headers: { accept: 'application/json' },
      signal,
      agent: false,
    });
    const fail = (reason: string) => {
      request.destroy();
      reject(new MalformedError('metadata document', reason));
    };
    request.on('error', reject);
    // Without a listener such an answer ends the connection and tells nobody: not even the deadline is heard then.
    request.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy();
      fail(`answered ${statusCode}`);
    });
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      const { location } = response.headers;
      if (statusCode >= 300 && statusCode < 400 && location !== undefined) {
        request.destroy();
        return resolve({ location });
      }
      if (statusCode !== 200) return fail(`answered ${statusCode}`);
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BYTES) fail(`over ${MAX_BYTES} bytes`);
        else chunks.push(chunk);
      });
      response.on('end', () => resolve({ bytes: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
  });
}
