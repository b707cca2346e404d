import http from 'node:http';
import https from 'node:https';
import { upstreamWords } from '../../../runtime/outside/upstream.ts';
import { MalformedError } from '../../../schemas/malformed.ts';
import type { Reading } from '../../../schemas/readings.ts';
import type { ReadingRecord } from '../../../schemas/records.ts';
import { jsonOf } from '../../../schemas/venues/decimal.ts';
import { documentUrl, readImage } from '../../../schemas/venues/metadata.ts';
import { shownImage, withoutLogin } from './image.ts';
import { nameLookup } from './name-lookup.ts';
import { isPrivateHost } from './public-address.ts';
import { unpacked } from './unpacked.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

type DocumentRecord = ReadingRecord & { reading: Extract<Reading, { type: 'metadata' }> };

export interface DocumentOptions {
  ipfsGateway: string | null;
  allowPrivate: boolean;
  /** For all of it: name lookups, redirects and bodies. */
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
    const shown = shownImage(readImage(jsonOf(bytes, 'metadata document')), options);
    return 'reason' in shown ? reading(null, shown.reason) : reading(shown.url, null);
  } catch (error) {
    return reading(known, upstreamWords(error));
  }
}

async function fetchDocument(
  first: URL,
  options: DocumentOptions,
  deadline: AbortSignal,
): Promise<Uint8Array> {
  let url = first;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const answer = await get(url, options, deadline);
    if (!('location' in answer)) return unpacked(answer.bytes, answer.coding, 'metadata document', MAX_BYTES);
    if (!URL.canParse(answer.location, url.href))
      throw new MalformedError('metadata document', 'a redirect to no URL');
    const next = new URL(answer.location, url);
    const target = documentUrl(next.href, options.ipfsGateway, options.allowPrivate);
    if ('reason' in target) throw new MalformedError('metadata document', `redirected: ${target.reason}`);
    url = new URL(target.url);
    if (!standsBelow(options.ipfsGateway, url)) url = withoutLogin(url);
  }
  throw new MalformedError('metadata document', `over ${MAX_REDIRECTS} redirects`);
}

/**
 * Whether the URL is among the gateway's documents. What else a redirect leads to is asked for without the gateway's
 * login.
 */
function standsBelow(gateway: string | null, url: URL): boolean {
  return gateway !== null && url.href.startsWith(new URL(`${gateway}/ipfs/`).href);
}

type Answer = { bytes: Uint8Array; coding: string | undefined } | { location: string };

function get(url: URL, options: DocumentOptions, signal: AbortSignal): Promise<Answer> {
  const { allowPrivate, nameServers } = options;
  if (!allowPrivate && isPrivateHost(url.hostname)) {
    return Promise.reject(new MalformedError('metadata document', 'at a private address'));
  }
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? https : http).get(url, {
      lookup: nameLookup({
        publicOnly: !allowPrivate,
        signal,
        ...(nameServers === undefined ? {} : { nameServers }),
      }),
      // Without this header the server may choose any coding.
      headers: { accept: 'application/json', 'accept-encoding': 'identity' },
      signal,
      agent: false,
    });
    const fail = (reason: string) => {
      request.destroy();
      reject(new MalformedError('metadata document', reason));
    };
    request.on('error', reject);
    // Without a listener an upgrade ends the connection without any event: not even the deadline is noticed then.
    request.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy();
      fail(`answered ${statusCode}`);
    });
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      const { location, 'content-encoding': coding } = response.headers;
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
      response.on('end', () => resolve({ bytes: Buffer.concat(chunks), coding }));
      response.on('error', reject);
    });
  });
}
