import { CLASS_BITS } from '../../schemas/program/asset-classes.ts';
import type { Action } from '../program/actions.ts';
import { seededKey } from '../program/state/keys.ts';
import { AMM_PROGRAM, LAUNCHPAD_PROGRAM } from '../program/state/known-programs.ts';
import type { Key } from '../program/state/state.ts';
import { CAST_ORIGIN } from './cast.ts';
import { quoteAssets } from './quote-assets.ts';

/** The keys that act for the protocol in a seed's world. */
export function officials(seed: string): { admin: Key; reporter: Key; feeDestination: Key; keeper: Key } {
  return {
    admin: seededKey(`admin:${seed}`),
    reporter: seededKey(`reporter:${seed}`),
    feeDestination: seededKey(`fees:${seed}`),
    keeper: seededKey(`keeper:${seed}`),
  };
}

const MAX_RISK = 100;

const EVERY_CLASS = Object.values(CLASS_BITS).reduce((mask: number, bit) => mask | bit, 0);

/** The deployment's origins: id, name, asset class mask. */
const ORIGINS: readonly [id: number, name: string, mask: number][] = [
  [1, 'stocks-only', 79],
  [CAST_ORIGIN, 'perps-and-options', EVERY_CLASS],
  [3, 'options', 111],
  [4, 'perps', 95],
  [5, 'perps (exclusive)', 17],
  [6, 'options (exclusive)', 33],
];

export const MODELS: readonly { id: number; name: string; provider: string; enabled: boolean }[] = [
  { id: 1, name: 'kestrel-4', provider: 'aviary', enabled: true },
  { id: 2, name: 'kestrel-4-mini', provider: 'aviary', enabled: true },
  { id: 3, name: 'obsidian 70B', provider: 'Vulcan Labs', enabled: true },
  { id: 7, name: 'old-guard', provider: 'aviary', enabled: false },
  { id: 300, name: 'modèle n° 300', provider: 'Atelier', enabled: true },
];

/** Address of the launchpad's global config for a quote asset and a curve. */
export function curveAddress(seed: string, quoteMint: Key, curveType: number): Key {
  return seededKey(`curve:${seed}:${quoteMint}:${curveType}`);
}

export const CURVE_TYPES = [0, 1, 2] as const;

/** The first block of a world: the deployment's configuration, registries, quote assets and curves. */
export function setupActions(seed: string): Action[] {
  const { admin, reporter, feeDestination } = officials(seed);
  const assets = quoteAssets(seed);
  return [
    {
      kind: 'init_protocol',
      ...{ admin, reporter, feeDestination },
      launchpadProgram: LAUNCHPAD_PROGRAM,
      ammProgram: AMM_PROGRAM,
      protocolFeeBps: 500,
      maxBankrollBps: 9000,
      maxDeviationBps: 2000,
      maxRemoteStaleness: 120n,
      minRiskForClass: [0, 0, 0, 10, 80, 80, 0, 0],
    },
    ...ORIGINS.map(([id, name, assetClassMask]): Action => {
      return { kind: 'register_origin', by: admin, id, name, assetClassMask, maxRisk: MAX_RISK };
    }),
    ...MODELS.map((model): Action => ({ kind: 'register_model', by: admin, ...model })),
    ...assets.map((asset): Action => {
      const { mint, program, decimals, supply, symbol, name, metadataIn, unknownExtension } = asset;
      const uri = `https://assets.example/${symbol.toLowerCase()}.json`;
      const metadata = metadataIn === 'nowhere' ? null : { name, symbol, uri };
      return {
        kind: 'issue_mint',
        ...{ mint, program, decimals, supply, metadata, unknownExtension },
        metadataIn: metadataIn === 'account' ? 'account' : 'mint',
      };
    }),
    ...assets.flatMap((asset) =>
      CURVE_TYPES.map((curveType): Action => {
        const address = curveAddress(seed, asset.mint, curveType);
        return { kind: 'create_curve', address, curveType, quoteMint: asset.mint };
      }),
    ),
  ];
}
