/** The bit of each asset class, as `asset_class` and the masks of origins have it. */
export const CLASS_BITS = {
  STABLE: 1,
  MAJOR: 2,
  SOL_MEME: 4,
  STOCK: 8,
  PERP: 16,
  OPTION: 32,
  LP: 64,
} as const;

export type AssetClass = keyof typeof CLASS_BITS;
