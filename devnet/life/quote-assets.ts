import { seededKey } from '../program/state/keys.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../program/state/known-programs.ts';
import type { Key } from '../program/state/state.ts';

/** A quote asset of the local world: what the chain has of it, and what the catalogue and the price sources answer. */
export interface QuoteAsset {
  mint: Key;
  program: Key;
  symbol: string;
  name: string;
  decimals: number;
  supply: bigint;
  /** Where its on-chain metadata stands, if anywhere. */
  metadataIn: 'mint' | 'account' | 'nowhere';
  unknownExtension: boolean;
  /** Its category in the pair catalogue; null: not listed there. */
  category: string | null;
  launchable: boolean;
  /** US dollars at the catalogue; null where it has no price. */
  catalogueUsd: number | null;
  /** US dollars at the second source, as it writes them; null where it has none. */
  secondUsd: string | null;
}

type Row = Omit<QuoteAsset, 'mint' | 'supply' | 'program' | 'unknownExtension' | 'launchable'> &
  Partial<Pick<QuoteAsset, 'program' | 'unknownExtension' | 'launchable'>>;

/** The last one belongs to the classic token program, so that no policy can be made with it. */
const ROWS: readonly Row[] = [
  {
    symbol: 'SPYX',
    name: 'SP500',
    decimals: 8,
    metadataIn: 'mint',
    category: 'xstock',
    catalogueUsd: 671.25,
    secondUsd: '671.3',
  },
  {
    symbol: 'GOOGLX',
    name: 'GOOGLE',
    decimals: 8,
    metadataIn: 'mint',
    category: 'xstock',
    catalogueUsd: 251.7312,
    secondUsd: null,
    unknownExtension: true,
  },
  {
    symbol: 'USDX',
    name: 'Dollar',
    decimals: 6,
    metadataIn: 'nowhere',
    category: 'currency',
    catalogueUsd: 0.9998,
    secondUsd: '0.9997',
  },
  {
    symbol: 'LSOL',
    name: 'Local SOL',
    decimals: 9,
    metadataIn: 'mint',
    category: 'solana',
    catalogueUsd: null,
    secondUsd: '182.44051',
  },
  {
    symbol: 'OFFBOOK',
    name: 'Not in the catalogue',
    decimals: 6,
    metadataIn: 'mint',
    category: null,
    catalogueUsd: null,
    secondUsd: '0.000012345',
  },
  {
    symbol: 'NAMELESS',
    name: 'Nowhere named',
    decimals: 5,
    metadataIn: 'nowhere',
    category: null,
    catalogueUsd: null,
    secondUsd: null,
  },
  {
    symbol: 'SPYX',
    name: 'SP500, another issuer',
    decimals: 2,
    metadataIn: 'account',
    category: 'custom',
    catalogueUsd: 1e-7,
    secondUsd: null,
    launchable: false,
  },
  {
    symbol: 'APART',
    name: 'Metadata elsewhere',
    decimals: 0,
    metadataIn: 'account',
    category: null,
    catalogueUsd: null,
    secondUsd: '3.5',
  },
  {
    symbol: 'CLASSIC',
    name: 'Of the classic token program',
    decimals: 6,
    metadataIn: 'nowhere',
    category: 'currency',
    catalogueUsd: 1,
    secondUsd: '1.0',
    program: TOKEN_PROGRAM,
  },
];

const WHOLE_SUPPLY = 10n ** 8n;

/** The quote assets of a seed's world. */
export function quoteAssets(seed: string | number): QuoteAsset[] {
  return ROWS.map((row, at) => ({
    program: TOKEN_2022_PROGRAM,
    unknownExtension: false,
    launchable: true,
    ...row,
    mint: seededKey(`quote:${seed}:${at}`),
    supply: WHOLE_SUPPLY * 10n ** BigInt(row.decimals),
  }));
}
