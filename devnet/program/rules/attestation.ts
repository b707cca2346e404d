import { found, must } from '../errors.ts';
import {
  begin,
  configOf,
  emit,
  eventHead,
  type InstructionRun,
  policyMetas,
  policyOf,
  readonly,
  signer,
  writable,
} from '../instruction-run.ts';
import { type Key, REMOTE } from '../state/state.ts';
import { ASOF_SKEW_S } from './equity.ts';
import { BY_ATTESTATION } from './pause.ts';

/** Notional over this many times equity is refused. */
const MAX_LEVERAGE = 5n;

export interface Report {
  mint: Key;
  by: Key;
  tokenAccount: Key;
  equity: bigint;
  notional: bigint;
  /** Unix seconds of the venue's clock. */
  asof: bigint;
}

/** Records what the venue says an account is worth; a jump beyond the band pauses the policy, either way. */
function reportRemoteEquity(run: InstructionRun, action: Report): void {
  const { policy: policyKey } = run.addresses.ofPolicy(action.mint);
  const entry = run.addresses.venue(policyKey, action.tokenAccount).address;
  begin(
    run,
    'report_remote_equity',
    [action.equity, action.notional, action.asof],
    [
      signer(action.by),
      readonly(run.addresses.config.address),
      ...policyMetas(run, action.mint),
      writable(entry),
      readonly(action.tokenAccount),
    ],
  );
  const config = configOf(run);
  must(action.by === config.reporter, 'NotReporter');
  const venue = found(run.draft.get('venues', entry), 'VenueNotAllowed');
  must(!venue.revoked, 'VenueNotAllowed');
  must(venue.kind === REMOTE, 'NotRemoteVenue');
  must(action.asof <= run.now + ASOF_SKEW_S, 'FutureAsof');
  must(action.notional <= MAX_LEVERAGE * action.equity, 'NotionalTooHigh');
  const previous = venue.remoteEquity;
  const change = action.equity > previous ? action.equity - previous : previous - action.equity;
  const paused = previous > 0n && change > (previous * BigInt(config.maxDeviationBps)) / 10_000n;
  const written = run.draft.edit('venues', entry);
  written.remoteEquity = action.equity;
  written.remoteNotional = action.notional;
  written.remoteAsof = action.asof;
  const policy = policyOf(run, action.mint);
  const { tokenAccount, equity, notional, asof } = action;
  emit(run, {
    kind: 'RemoteEquityReported',
    fields: { ...eventHead(policy), tokenAccount, equity, notional, asof, paused },
  });
  if (!paused) return;
  policy.paused = true;
  emit(run, { kind: 'PolicyPaused', fields: { ...eventHead(policy), paused: true, by: BY_ATTESTATION } });
}

export const ATTESTATION_INSTRUCTIONS = { report_remote_equity: reportRemoteEquity };
