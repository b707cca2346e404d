/** Errors of the program, in the order of their codes. Those after WrongMint are this chain's own names. */
const PROGRAM_ERRORS = [
  'ProtocolPaused',
  'PolicyPaused',
  'PolicyLocked',
  'RiskAboveOrigin',
  'RiskCapExceeded',
  'RiskBelowAssetClass',
  'SplitNotWhole',
  'BankrollShareTooHigh',
  'BpsOutOfRange',
  'NothingToDo',
  'NotReporter',
  'NotRemoteVenue',
  'FutureAsof',
  'NotionalTooHigh',
  'StaleRemoteEquity',
  'VenueSetIncomplete',
  'VenueNotAllowed',
  'WrongMint',
  'ProfitSplitNotWhole',
  'ClassOutsideOrigin',
  'InvalidAssetClass',
  'InvalidLeverage',
  'NotAuthority',
  'NotAgent',
  'NotGuardian',
  'NotAdmin',
  'WrongMode',
  'WrongTokenProgram',
  'UnknownOrigin',
  'UnknownModel',
  'AccountInUse',
  'AccountMissing',
  'InsufficientFunds',
  'PoolClosed',
  'ArithmeticOverflow',
] as const;

export type ProgramErrorName = (typeof PROGRAM_ERRORS)[number];

/** First custom error code of an Anchor program. */
const FIRST_CODE = 6000;

/** A rule said no: the transaction fails and leaves nothing behind. */
export class ProgramError extends Error {
  readonly rule: ProgramErrorName;
  constructor(rule: ProgramErrorName) {
    super(rule);
    this.rule = rule;
  }
}

export function codeOf(rule: ProgramErrorName): number {
  return FIRST_CODE + PROGRAM_ERRORS.indexOf(rule);
}

/** @throws ProgramError where the condition does not hold. */
export function must(condition: boolean, rule: ProgramErrorName): asserts condition {
  if (!condition) throw new ProgramError(rule);
}

/** The value, where there is one. @throws ProgramError where there is none. */
export function found<T>(value: T | undefined | null, rule: ProgramErrorName = 'AccountMissing'): T {
  if (value === undefined || value === null) throw new ProgramError(rule);
  return value;
}
