export type Encoding = 'br' | 'gzip';

/** How the bytes of an answer may be packed, the one that packs best first. */
export const ENCODINGS: readonly Encoding[] = ['br', 'gzip'];

const QUALITY = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/**
 * The encoding that a client's Accept-Encoding prefers; null for the bytes as they are, also where the client accepts
 * nothing that we have. What does not follow the header's grammar is ignored.
 * @param ours the first of them is taken where the client prefers none
 */
export function preferredEncoding(header: string, ours = ENCODINGS): Encoding | null {
  if (header === '') return null;
  const qualities = new Map<string, number>();
  for (const part of header.split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = qualityOf(parameters);
    if (quality !== null) qualities.set(coding.toLowerCase(), quality);
  }
  const others = qualities.get('*') ?? 0;
  // Where `identity` is not named it is acceptable, behind all that is named.
  let best = qualities.get('identity') ?? others;
  let preferred: Encoding | null = null;
  for (const encoding of ours) {
    const quality = qualities.get(encoding) ?? others;
    if (quality === 0 || quality < best || (quality === best && preferred !== null)) continue;
    best = quality;
    preferred = encoding;
  }
  return preferred;
}

/** The quality that a coding's parameters give, 1 without any; null where they are malformed. */
function qualityOf(parameters: readonly string[]): number | null {
  if (parameters.length === 0) return 1;
  const [, quality] = (parameters.length === 1 && QUALITY.exec(parameters[0] as string)) || [];
  return quality === undefined ? null : Number(quality);
}
