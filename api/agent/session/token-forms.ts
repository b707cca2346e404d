const LENGTH = 43;

/** The hash of a text; called once for each text. */
export type HashOf = (text: string) => string;

/** The hashes of everything in a text that may be a token, however it was disguised. */
export function tokenHashesIn(text: string, hashOf: HashOf): string[] {
  const candidates = new Set<string>();
  for (const form of formsOf(text))
    for (const [run] of form.matchAll(/[A-Za-z0-9_-]{43,}/g))
      for (let at = 0; at + LENGTH <= run.length; at += 1) candidates.add(run.slice(at, at + LENGTH));
  return [...candidates].map(hashOf);
}

/**
 * The text as it stands; without separators, invisible characters, marks and wide letters; backwards; in the other
 * alphabet of base64; with escapes, base64 and hex undone.
 */
function formsOf(text: string): Set<string> {
  // NFKD takes letters apart: a letter and the mark on it may be one character.
  const plain = text.normalize('NFKD').replace(/[\s\p{Cf}\p{M}]+/gu, '');
  const backwards = [...plain].reverse().join('');
  return new Set([
    text,
    plain,
    plain.replace(/[^\w-]+/g, ''),
    plain.replaceAll('+', '-').replaceAll('/', '_'),
    unescaped(plain),
    backwards,
    ...decoded(plain, 'base64', 4),
    ...decoded(plain, 'hex', 2),
  ]);
}

/** Escapes of URLs (%4e), pages (&#78; and &#x4e;) and code (\\x4e and \\u004e). */
const ESCAPES =
  /%([0-9a-f]{2})|&#x([0-9a-f]{1,6});?|&#(\d{1,7});?|\\x([0-9a-f]{2})|\\u\{?([0-9a-f]{2,6})\}?/gi;

function unescaped(text: string): string {
  return text.replace(ESCAPES, (_, url, pageHex, page, code, wideCode) => {
    const point = page === undefined ? Number.parseInt(url ?? pageHex ?? code ?? wideCode, 16) : Number(page);
    return point < 0x80 ? String.fromCharCode(point) : ' ';
  });
}

const RUNS = { base64: /[A-Za-z0-9+/_-]{57,}/g, hex: /[0-9a-f]{86,}/gi };

/** The runs of a text, decoded from each of `places` offsets: where in a run the encoded token begins is not known. */
function decoded(text: string, code: keyof typeof RUNS, places: number): string[] {
  return [...text.matchAll(RUNS[code])].flatMap(([run]) =>
    Array.from({ length: places }, (_, at) => Buffer.from(run.slice(at), code).toString('latin1')),
  );
}
