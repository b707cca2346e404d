/** Token instructions whose first byte is lower are read, or move nothing; from this one on they are of extensions. */
export const FIRST_EXTENSION = 26;

/** The place among an instruction's accounts of the only one whose amount it may change; null where it changes none. */
type Place = number | null;

/** By the first byte, or by the first and the second. */
const PLACES: Partial<Record<number, Place | readonly (Place | undefined)[]>> = {
  // Fees: their configuration, a transfer (which is read), withdrawals of what was withheld, harvests into a mint.
  26: [null, undefined, 1, 1, null, null],
  // Confidential transfers, of which only deposit and withdrawal change the amount that everybody sees.
  27: [null, null, null, null, null, 0, 0, null, null, null, null, null, null, null, null],
  // Settings of mints and accounts, room for them, and amounts that nobody sees.
  ...Object.fromEntries(Array.from({ length: 17 }, (_, at) => [28 + at, null])),
  // Lamports taken out of an account of the native mint; burns that a mint has to permit.
  45: 0,
  46: [null, 0, 0, null],
};

/** What is written on mints: names and groups. By their first eight bytes. */
const OF_MINTS: ReadonlySet<string> = new Set([
  ...['d2e11ea258b84d8d', 'dde9312db5cadcc8', 'ea122038598d25b5', 'd7e4a6e45464567b', 'faa6b4fa0d0cb846'],
  ...['79716c2736330004', '6c25ab8ff81e126e', 'a1695801edddd8cb', '9820deb0dfed7486'],
]);

/**
 * The place of the account whose amount an instruction of an extension may change: a caller may pass more accounts than
 * it looks at. Null where it changes none; undefined where the instruction is not known, so that it may be any of them.
 */
export function placeChanged(data: Uint8Array): Place | undefined {
  const [tag = 0, sub = 0] = data;
  const places = PLACES[tag];
  if (typeof places === 'object' && places !== null) return places[sub];
  if (places !== undefined) return places;
  return OF_MINTS.has(Buffer.from(data.subarray(0, 8)).toString('hex')) ? null : undefined;
}
