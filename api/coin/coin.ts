import type { MintRow } from '../../clickhouse/queries/states/mints.ts';
import type { LastTransactionRow, StoredPolicy } from '../../clickhouse/queries/states/policy.ts';
import { figure } from '../../schemas/figure.ts';
import { plainFields } from '../../schemas/program/account-fields.ts';
import type { CoinResponse } from '../../schemas/responses/coin/coin.ts';
import { timeOf } from '../../schemas/units.ts';
import { marketCapOf, poolOf } from '../figures/market-cap.ts';
import { modelOf } from '../figures/model.ts';
import { quotesAt } from '../figures/quotes.ts';
import { newest } from '../figures/times.ts';
import type { Coin } from './find.ts';
import { pdaBalances } from './pda-balances.ts';
import { plainView } from './plain-view.ts';
import { venueAccountView } from './venue-account.ts';

/** `GET /coins/:mint` (spec 2.2) */
export function coin({ mint, policy, view, settings }: Coin): CoinResponse {
  const config = view.single('config');
  const venueRows = view.get('venueAccounts', policy.address);
  const last = view.get('lastTransaction', policy.address);
  const originRows = view.single('origins');
  const modelRows = view.single('models');
  const quote = quotesAt(view, settings, [policy.quote_mint]).get(policy.quote_mint);
  if (quote === undefined) throw new Error('a quote asset that was asked for is missing');
  const pool = poolOf(config?.launchpad_program ?? settings.launchpadProgramId, mint, policy.quote_mint);
  const local = venueRows.filter((row) => row.kind === 'Local').map((row) => row.token_account);
  const { bankroll, quote_escrow, base_escrow, holder_rewards } = policy;
  const balances = view.rows('tokenAccount', [bankroll, quote_escrow, base_escrow, holder_rewards, ...local]);
  const token = view.get('mint', mint);
  const origin = originRows.find((row) => row.address === policy.origin);
  const protocolPaused = config === null ? null : config.paused === 1;
  return {
    mint,
    name: token?.name ?? null,
    symbol: token?.symbol ?? null,
    ...imageOf(token),
    metadataUri: token?.uri ?? null,
    metadataAsOf: token?.has_metadata === 1 ? timeOf(token.metadata_time) : null,
    quoteMint: policy.quote_mint,
    quote: quote.view,
    feeKeyMint: policy.fee_key_mint,
    lastIndexedSignature: lastSignature(policy, last),
    updatedAt: newest([timeOf(policy.block_time), timeOf(last?.block_time ?? null)]),
    marketCap: marketCapOf(pool, view.get('pool', pool), quote),
    authority: policy.authority,
    agent: policy.agent,
    guardian: policy.guardian,
    origin: {
      pubkey: policy.origin,
      name: origin?.name ?? null,
      assetClassMask: origin?.asset_class_mask ?? null,
      maxRisk: origin?.max_risk ?? null,
    },
    mode: policy.mode,
    model: modelOf(policy, modelRows),
    feeSplit: { toLpBps: policy.to_lp_bps, toBankrollBps: policy.to_bankroll_bps },
    profitSplit: {
      toLpBps: policy.profit_to_lp_bps,
      toHoldersBps: policy.profit_to_holders_bps,
      toBankrollBps: policy.profit_to_bankroll_bps,
    },
    ...plainView(policy, plainFields()),
    protocolPaused,
    moneyPathsFrozen: policy.paused === 1 ? true : protocolPaused,
    counters: counters(policy),
    hwm: counter(policy, policy.hwm),
    venueAccounts: venueRows.map((row) => venueAccountView(row, balances)),
    pdaBalances: pdaBalances(policy, balances, quote.decimals, decimalsOf(token)),
  };
}

function imageOf(token: MintRow | undefined): Pick<CoinResponse, 'imageUrl' | 'imageReason'> {
  const imageUrl = token?.image_url ?? null;
  const reason = token?.document_error ?? (imageUrl === null ? noImage(token) : null);
  return { imageUrl, ...(reason === null ? {} : { imageReason: reason }) };
}

/** Why there is no image, where reading the document did not fail. */
function noImage(token: MintRow | undefined): string {
  if (token === undefined) return 'the mint is not read yet';
  if (token.has_metadata !== 1) return 'the mint has no metadata';
  if (token.uri === null || token.uri === '') return 'the metadata names no document';
  return token.document_read === 1
    ? 'the metadata document names no image'
    : 'the metadata document is not read yet';
}

function decimalsOf(token: { exists: number; decimals: number } | undefined): number | null {
  return token !== undefined && token.exists === 1 ? token.decimals : null;
}

function counter(policy: StoredPolicy, value: string) {
  return figure(value, 'chain:Policy account', timeOf(policy.block_time));
}

function counters(policy: StoredPolicy): CoinResponse['counters'] {
  return {
    feesClaimedQuote: counter(policy, policy.fees_claimed),
    protocolFees: counter(policy, policy.protocol_fees),
    routedToLp: counter(policy, policy.routed_to_lp),
    routedToBankroll: counter(policy, policy.routed_to_bankroll),
    profitSwept: counter(policy, policy.profit_swept),
    paidToHolders: counter(policy, policy.paid_to_holders),
    tokensBurned: counter(policy, policy.tokens_burned),
    creditSpent: counter(policy, policy.credit_spent),
  };
}

/** The newer of the two: a write of the account may be applied before its transaction is. */
function lastSignature(policy: StoredPolicy, last: LastTransactionRow | undefined): string | null {
  if (last === undefined) return policy.signature;
  return policy.signature !== null && BigInt(policy.slot) > BigInt(last.slot)
    ? policy.signature
    : last.signature;
}
