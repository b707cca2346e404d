import type { LatestColumns, PolicyColumns } from '../../../clickhouse/tables.ts';
import { createLru } from '../../../runtime/lru.ts';
import type { AccountColumns } from '../../../schemas/program/account-fields.ts';
import type {
  AccountType,
  Model,
  Origin,
  Policy,
  ProgramAccount,
  ProtocolConfig,
  VenueAccount,
} from '../../../schemas/program/accounts.ts';
import type { AccountRecord } from '../../../schemas/records.ts';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { byteKey } from '../../../schemas/solana/byte-key.ts';
import { policyTokenAccounts } from '../../../schemas/solana/pda.ts';

export const PROGRAM_TABLES = {
  Policy: 'policies',
  VenueAccount: 'venue_accounts',
  ProtocolConfig: 'protocol_config',
  Origin: 'origins',
  Model: 'models',
} as const satisfies Record<AccountType, keyof LatestColumns>;

/**
 * The columns of an account of the program. Written out, because a row is made for every update: a loop over the fields
 * takes half as long again. A stored field that is left out does not compile.
 */
export function programColumns(
  account: ProgramAccount,
  record: Pick<AccountRecord, 'address' | 'signature'>,
  programId: Uint8Array,
): LatestColumns[(typeof PROGRAM_TABLES)[AccountType]] {
  switch (account.type) {
    case 'Policy':
      return policyColumns(account, record, programId);
    case 'VenueAccount':
      return venueAccountColumns(account);
    case 'ProtocolConfig':
      return protocolConfigColumns(account);
    case 'Origin':
      return originColumns(account);
    case 'Model':
      return modelColumns(account);
  }
}

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0);
const isZero = (key: Uint8Array): boolean => key.every((byte) => byte === 0);

type PolicyAddresses = Pick<PolicyColumns, 'bankroll' | 'quote_escrow' | 'base_escrow' | 'holder_rewards'>;

/** A policy is updated often and its token accounts never change. */
const addresses = createLru<PolicyAddresses>(200_000);

function addressesOf(programId: Uint8Array, policy: Uint8Array): PolicyAddresses {
  const key = byteKey(policy);
  const known = addresses.get(key);
  if (known !== undefined) return known;
  const { bankroll, quoteEscrow, baseEscrow, holderRewards } = policyTokenAccounts(programId, policy);
  const found = {
    bankroll: encodeBase58(bankroll),
    quote_escrow: encodeBase58(quoteEscrow),
    base_escrow: encodeBase58(baseEscrow),
    holder_rewards: encodeBase58(holderRewards),
  };
  addresses.set(key, found);
  return found;
}

function policyColumns(
  policy: Policy,
  { address, signature }: Pick<AccountRecord, 'address' | 'signature'>,
  programId: Uint8Array,
): PolicyColumns {
  const { bankroll, quote_escrow, base_escrow, holder_rewards } = addressesOf(programId, address);
  return {
    signature: signature === null ? null : encodeBase58(signature),
    mint: encodeBase58(policy.mint),
    quote_mint: encodeBase58(policy.quoteMint),
    fee_key_mint: encodeBase58(policy.feeKeyMint),
    authority: encodeBase58(policy.authority),
    agent: isZero(policy.agent) ? null : encodeBase58(policy.agent),
    guardian: encodeBase58(policy.guardian),
    origin: encodeBase58(policy.origin),
    origin_id: policy.originId,
    mode: policy.mode,
    model_id: policy.modelId,
    to_lp_bps: policy.toLpBps,
    to_bankroll_bps: policy.toBankrollBps,
    profit_to_lp_bps: policy.profitToLpBps,
    profit_to_holders_bps: policy.profitToHoldersBps,
    profit_to_bankroll_bps: policy.profitToBankrollBps,
    risk: policy.risk,
    target_asset: encodeBase58(policy.targetAsset),
    target_leverage_x: policy.targetLeverageX,
    locked: flag(policy.locked),
    paused: flag(policy.paused),
    fees_claimed: policy.feesClaimed.toString(),
    protocol_fees: policy.protocolFees.toString(),
    routed_to_lp: policy.routedToLp.toString(),
    routed_to_bankroll: policy.routedToBankroll.toString(),
    profit_swept: policy.profitSwept.toString(),
    paid_to_holders: policy.paidToHolders.toString(),
    tokens_burned: policy.tokensBurned.toString(),
    credit_spent: policy.creditSpent.toString(),
    hwm: policy.hwm.toString(),
    venue_count: policy.venueCount,
    created_at: policy.createdAt.toString(),
    bankroll,
    quote_escrow,
    base_escrow,
    holder_rewards,
  };
}

function venueAccountColumns(account: VenueAccount): AccountColumns<'VenueAccount'> {
  return {
    policy: encodeBase58(account.policy),
    token_account: encodeBase58(account.tokenAccount),
    asset_mint: encodeBase58(account.assetMint),
    kind: account.kind,
    asset_class: account.assetClass,
    revoked: flag(account.revoked),
    remote_account: Buffer.from(account.remoteAccount).toString('hex'),
    remote_equity: account.remoteEquity.toString(),
    remote_notional: account.remoteNotional.toString(),
    remote_asof: account.remoteAsof.toString(),
    bridged_out: account.bridgedOut.toString(),
  };
}

function protocolConfigColumns(config: ProtocolConfig): AccountColumns<'ProtocolConfig'> {
  return {
    admin: encodeBase58(config.admin),
    reporter: encodeBase58(config.reporter),
    fee_destination: encodeBase58(config.feeDestination),
    launchpad_program: encodeBase58(config.launchpadProgram),
    amm_program: encodeBase58(config.ammProgram),
    paused: flag(config.paused),
    protocol_fee_bps: config.protocolFeeBps,
    max_bankroll_bps: config.maxBankrollBps,
    max_deviation_bps: config.maxDeviationBps,
    max_remote_staleness: config.maxRemoteStaleness.toString(),
    min_risk_for_class: Array.from(config.minRiskForClass),
  };
}

function originColumns({ id, name, assetClassMask, maxRisk }: Origin): AccountColumns<'Origin'> {
  return { id, name, asset_class_mask: assetClassMask, max_risk: maxRisk };
}

function modelColumns({ id, name, provider, enabled, registeredAt }: Model): AccountColumns<'Model'> {
  return { id, name, provider, enabled: flag(enabled), registered_at: registeredAt.toString() };
}
