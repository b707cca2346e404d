import { type QuoteAsset, quoteAssets } from '../life/quote-assets.ts';

const COLOURS = ['teal', 'amber', 'plum'] as const;

/** Rows of `GET /pairs`. */
export function pairs(seed: string): object {
  const listed = quoteAssets(seed).filter(({ category }) => category !== null);
  return {
    data: {
      pairs: listed.map(({ mint, symbol, name, decimals, category, launchable, program }) => ({
        mint,
        symbol,
        name,
        decimals,
        logoUrl: `/api/asset/quote-logo/${mint}`,
        category,
        tokenProgram: program,
        launchable,
        launchLabReady: launchable,
      })),
    },
    meta: { generatedAt: new Date().toISOString() },
  };
}

/** `GET /launchlab/pricing?quoteMint=`; null where the catalogue has no such pair. */
export function pricing(seed: string, mint: string | null, nowMs: number): object | null {
  const asset = quoteAssets(seed).find((known) => known.mint === mint && known.category !== null);
  if (asset === undefined) return null;
  const { catalogueUsd } = asset;
  return {
    data: {
      quote: { mint, symbol: asset.symbol, decimals: asset.decimals, tokenProgram: asset.program },
      marketCap:
        catalogueUsd === null
          ? null
          : { startUsd: 3355.02, graduationUsd: 49_298.14, graduationMultiple: 14.69 },
      prices: { quoteUsd: catalogueUsd, observedAt: new Date(nowMs).toISOString() },
    },
    meta: { generatedAt: new Date(nowMs).toISOString() },
  };
}

/** `GET /mint/price?mints=` of the second source. */
export function secondPrices(seed: string, mints: readonly string[]): object {
  const known = new Map(quoteAssets(seed).map((asset: QuoteAsset) => [asset.mint, asset.secondUsd]));
  return {
    id: 'devnet',
    success: true,
    data: Object.fromEntries(mints.map((mint) => [mint, known.get(mint) ?? null])),
  };
}

/** A launched token's metadata document; some are missing or not JSON, as in the real world. */
export function metadataDocument(number: number): { status: number; type: string; body: string } {
  if (number % 17 === 5) return { status: 404, type: 'text/plain', body: 'gone' };
  if (number % 17 === 9) return { status: 200, type: 'text/html', body: '<html>not a document</html>' };
  const colour = COLOURS[number % COLOURS.length];
  const body = JSON.stringify({
    name: `Token ${number}`,
    image: `https://images.example/${colour}/${number}.png`,
  });
  return { status: 200, type: 'application/json', body };
}
