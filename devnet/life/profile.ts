import type { SingleAction } from '../program/actions.ts';
import type { InitPolicy } from '../program/rules/policy.ts';
import { seededKey } from '../program/state/keys.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../program/state/known-programs.ts';
import { createRandom, type Random } from '../program/state/random.ts';
import { AGENT, type Key, PASSIVE, type TokenMetadata } from '../program/state/state.ts';
import { agentKeypair } from './agent-keys.ts';
import { CAST_ORIGIN, CAST_RISK, isCast } from './cast.ts';
import { type QuoteAsset, quoteAssets } from './quote-assets.ts';
import { CURVE_TYPES, curveAddress, MODELS } from './setup.ts';

/** What is fixed about a token from its launch on; the seed and its number decide it. */
export interface Profile {
  number: number;
  mint: Key;
  quote: QuoteAsset;
  /** True: fees are claimed. False: the launch forwards them into the escrow by itself. */
  claims: boolean;
  launch: SingleAction;
  init: InitPolicy;
}

const WORDS = [
  'Moon',
  'Vault',
  'Frog',
  'Ledger',
  'Paper',
  'Tiger',
  'Night',
  'Copper',
  'Wave',
  'Echo',
  'Ünïcode',
  '猫',
];
/** Quote asset of the cast: amounts in it are easy to read. */
const CAST_QUOTE = 'USDX';
const enabledModels = MODELS.filter((model) => model.enabled);

/** The mint of the n-th launch of a seed's world. */
export function launchMint(seed: string | number, number: number): Key {
  return seededKey(`launch:${seed}:${number}`);
}

function metadataOf(random: Random, number: number, base: string): TokenMetadata | null {
  if (random.chance(0.08) && !isCast(number)) return null;
  const name = `${random.pick(WORDS)} ${random.pick(WORDS)} ${number}`;
  const symbol = `${name
    .replace(/[^A-Za-z]/g, '')
    .slice(0, 5)
    .toUpperCase()}${number % 100}`;
  const lot = random.next();
  const uri = lot < 0.85 ? `${base}/metadata/${number}.json` : lot < 0.92 ? `ipfs://bafydevnet${number}` : '';
  return { name, symbol, uri };
}

/** Two shares that add up to 10000; the second is at most `most`. */
function split(random: Random, most: number): [number, number] {
  const share = random.chance(0.15) ? most : random.int(0, most);
  return [10_000 - share, share];
}

export function drawTerms(random: Random) {
  const [toLpBps, toBankrollBps] = split(random, 9000);
  const profitToLpBps = random.int(0, 5000);
  const profitToHoldersBps = random.chance(0.2) ? 0 : random.int(0, 10_000 - profitToLpBps);
  return {
    toLpBps,
    toBankrollBps,
    profitToLpBps,
    profitToHoldersBps,
    profitToBankrollBps: 10_000 - profitToLpBps - profitToHoldersBps,
    risk: random.chance(0.1) ? random.pick([0, 9, 10, 79, 80, 100]) : random.int(60, 100),
    targetLeverageX: random.int(1, 5),
    modelId: random.pick(enabledModels).id,
  };
}

/** Draws the profile of the n-th launch. `metadataBase`: where metadata documents are served. */
export function profileOf(seed: string, number: number, metadataBase: string): Profile {
  const random = createRandom(`profile:${seed}:${number}`);
  const mint = launchMint(seed, number);
  const quotes = quoteAssets(seed).filter((asset) => asset.program !== TOKEN_PROGRAM);
  const drawnQuote = random.pick(quotes);
  const quote = isCast(number)
    ? (quotes.find(({ symbol }) => symbol === CAST_QUOTE) ?? drawnQuote)
    : drawnQuote;
  const decimals = random.chance(0.9) ? 6 : random.pick([0, 4, 9]);
  const mode = random.chance(0.5) || isCast(number) ? AGENT : PASSIVE;
  const authority = seededKey(`authority:${seed}:${number}`);
  const curveType = random.chance(0.7) ? 0 : random.pick(CURVE_TYPES);
  const pool = random.chance(0.06)
    ? null
    : {
        globalConfig: curveAddress(seed, quote.mint, curveType),
        creator: authority,
        quoteMint: quote.mint,
        raise: random.big(50n, 5000n) * 10n ** BigInt(quote.decimals) + 85n,
      };
  return {
    number,
    mint,
    quote,
    claims: random.chance(0.7),
    launch: {
      kind: 'create_launch',
      pool,
      mint: {
        mint,
        program: TOKEN_2022_PROGRAM,
        decimals,
        supply: 10n ** 9n * 10n ** BigInt(decimals),
        metadata: metadataOf(random, number, metadataBase),
        metadataIn: random.chance(0.06) ? 'account' : 'mint',
        unknownExtension: random.chance(0.05),
      },
    },
    init: {
      ...drawTerms(random),
      mint,
      quoteMint: quote.mint,
      feeKeyMint: seededKey(`fee-key:${seed}:${number}`),
      authority,
      agent: agentKeypair(seed, mint).key,
      guardian: seededKey(`guardian:${seed}:${number}`),
      originId: random.int(1, 6),
      mode,
      targetAsset: quotes[random.int(0, quotes.length - 1)]?.mint ?? quote.mint,
      ...(isCast(number) ? { originId: CAST_ORIGIN, risk: CAST_RISK } : {}),
    },
  };
}
