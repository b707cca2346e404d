import { found, must } from '../errors.ts';
import {
  begin,
  configOf,
  emit,
  eventHead,
  type InstructionRun,
  openTokenAccount,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { bytesOf, seededKey } from '../state/keys.ts';
import { type Key, REMOTE } from '../state/state.ts';

export interface RegisterVenue {
  mint: Key;
  by: Key;
  tokenAccount: Key;
  assetMint: Key;
  /** 0 Local, 1 Remote. */
  venueKind: number;
  assetClass: number;
  /** 32 bytes, base58; the zero key for a Local account. */
  remoteAccount: Key;
}

/** Puts a token account on the policy's allowlist, and opens the token account where it does not exist. */
function registerVenue(run: InstructionRun, action: RegisterVenue): void {
  const { policy: policyKey } = run.addresses.ofPolicy(action.mint);
  const entry = run.addresses.venue(policyKey, action.tokenAccount);
  begin(
    run,
    'register_venue_account',
    [action.venueKind, action.assetClass, ...bytesOf(action.remoteAccount)],
    [
      signer(action.by),
      readonly(run.addresses.config.address),
      ...policyMetas(run, action.mint),
      writable(entry.address),
      writable(action.tokenAccount),
      readonly(action.assetMint),
    ],
  );
  const policy = policyOf(run, action.mint);
  must(action.by === policy.authority, 'NotAuthority');
  const bit = Math.log2(action.assetClass);
  must(Number.isInteger(bit) && bit >= 0 && bit <= 7, 'InvalidAssetClass');
  const origin = found(run.draft.get('origins', policy.origin));
  must((origin.assetClassMask & action.assetClass) !== 0, 'ClassOutsideOrigin');
  must(policy.risk >= (configOf(run).minRiskForClass[bit] ?? 0), 'RiskBelowAssetClass');
  must(run.draft.get('venues', entry.address) === undefined, 'AccountInUse');
  if (run.draft.get('tokens', action.tokenAccount) === undefined) {
    const owner = action.venueKind === REMOTE ? seededKey(`bridge:${action.assetClass}`) : policyKey;
    openTokenAccount(run, { address: action.tokenAccount, mint: action.assetMint, owner });
  }
  run.draft.put('venues', {
    address: entry.address,
    policy: policyKey,
    tokenAccount: action.tokenAccount,
    assetMint: action.assetMint,
    kind: action.venueKind,
    assetClass: action.assetClass,
    revoked: false,
    remoteAccount: action.remoteAccount,
    remoteEquity: 0n,
    remoteNotional: 0n,
    remoteAsof: 0n,
    bridgedOut: 0n,
    bump: entry.bump,
  });
  policy.venueCount += 1;
  const { tokenAccount, assetMint, venueKind: kind, assetClass } = action;
  emit(run, {
    kind: 'VenueRegistered',
    fields: { ...eventHead(policy), tokenAccount, assetMint, kind, assetClass },
  });
}

/** Takes an account off the allowlist and out of equity; the entry stays. */
function revokeVenue(run: InstructionRun, action: { mint: Key; by: Key; tokenAccount: Key }): void {
  const { policy: policyKey } = run.addresses.ofPolicy(action.mint);
  const entry = run.addresses.venue(policyKey, action.tokenAccount).address;
  begin(
    run,
    'revoke_venue_account',
    [],
    [signer(action.by), ...policyMetas(run, action.mint), writable(entry), readonly(action.tokenAccount)],
  );
  const policy = policyOf(run, action.mint);
  must(action.by === policy.authority, 'NotAuthority');
  must(run.draft.get('venues', entry)?.revoked === false, 'VenueNotAllowed');
  run.draft.edit('venues', entry).revoked = true;
  policy.venueCount -= 1;
  emit(run, { kind: 'VenueRevoked', fields: { ...eventHead(policy), tokenAccount: action.tokenAccount } });
}

export const VENUE_INSTRUCTIONS = {
  register_venue_account: registerVenue,
  revoke_venue_account: revokeVenue,
};
