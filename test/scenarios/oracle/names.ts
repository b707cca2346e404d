import type { Policy, TokenMetadata } from '../../../devnet/program/state/state.ts';
import { anything, text } from './expected.ts';
import type { View } from './view.ts';

/** The metadata of a mint and the account that holds it; null where it has none. */
export function metadataOf(
  { state }: View,
  address: string,
): { metadata: TokenMetadata; holder: string } | null {
  const mint = state.mints.get(address);
  if (mint === undefined) return null;
  const pointed = mint.metadataPointer === null ? undefined : state.metadata.get(mint.metadataPointer);
  if (pointed !== undefined && pointed.mint === address)
    return { metadata: pointed, holder: pointed.address };
  return mint.metadata === null ? null : { metadata: mint.metadata, holder: address };
}

export function decimalsOf({ state }: View, mint: string): number | null {
  return state.mints.get(mint)?.decimals ?? null;
}

const CHAIN = 'chain:quote mint Token-2022 metadata';

/** Symbol of a quote asset with its source, where no catalogue was read. */
function symbolOf(view: View, mint: string) {
  const found = metadataOf(view, mint)?.metadata;
  return found === undefined || found.symbol === ''
    ? { symbol: null, name: null, source: null }
    : { symbol: found.symbol, name: found.name, source: CHAIN };
}

/** `quote` of a coin. */
export function quoteBlock(view: View, mint: string): unknown {
  if (view.polled) return anything;
  const { symbol, name, source } = symbolOf(view, mint);
  return {
    symbol,
    name,
    decimals: decimalsOf(view, mint),
    symbolSource: source,
    ...(symbol === null ? { symbolAbsentReason: text } : {}),
    iconUrl: null,
    iconSource: null,
    priceUsd: null,
    priceObservedAt: null,
    priceAbsentReason: text,
  };
}

/** The quote's part of a row of the rankings, without the reason for which it may have no symbol. */
export function quoteColumns(view: View, mint: string) {
  const { symbol, source } = symbolOf(view, mint);
  const columns = { quoteMint: mint, quoteDecimals: decimalsOf(view, mint) };
  if (view.polled) return { ...columns, quoteSymbol: anything, quoteSymbolSource: anything };
  return { ...columns, quoteSymbol: symbol, quoteSymbolSource: source };
}

export function modelBlock({ state, chain }: View, policy: Policy): object {
  if (policy.mode === 0) return { id: 0, name: null, provider: null, enabled: null };
  const model = state.models.get(chain.addresses.model(policy.modelId).address);
  return {
    id: policy.modelId,
    name: model?.name ?? null,
    provider: model?.provider ?? null,
    enabled: model?.enabled ?? null,
  };
}
