import { MalformedError } from '../malformed.ts';
import { isUnixMillis } from '../units.ts';
import { amountText, decimalText, objectOf, scaledFloor } from './decimal.ts';

/** What an account is worth at the perpetuals venue, at scale 1e6. */
export interface PerpState {
  equity: bigint;
  notional: bigint;
  /** Milliseconds of the venue's clock, null where the reply has none. */
  time: number | null;
}

const SCALE = 6;

/** Reads a clearinghouseState reply. Cross margin alone would omit isolated positions. @throws MalformedError */
export function readClearinghouseState(reply: unknown): PerpState {
  const state = objectOf(reply, 'clearinghouseState');
  const margin = objectOf(state.marginSummary, 'clearinghouseState.marginSummary');
  const { time } = state;
  const hasTime = time !== undefined && time !== null;
  if (hasTime && !(isUnixMillis(time) && Number.isInteger(time)))
    throw new MalformedError('clearinghouseState.time', 'no time');
  return {
    equity: scaledFloor(decimalText(margin.accountValue, 'marginSummary.accountValue'), SCALE),
    notional: scaledFloor(amountText(margin.totalNtlPos, 'marginSummary.totalNtlPos'), SCALE),
    time: hasTime ? (time as number) : null,
  };
}

/** Modes in which an account's value understates its equity. */
const UNIFIED = new Set(['unifiedAccount', 'portfolioMargin']);
const KNOWN = new Set([...UNIFIED, 'disabled', 'default']);

/** Whether the account's value is its equity, by its mode. @throws MalformedError for an unknown mode. */
export function valueIsEquity(reply: unknown): boolean {
  if (typeof reply !== 'string' || !KNOWN.has(reply))
    throw new MalformedError('userAbstraction', 'unknown mode');
  return !UNIFIED.has(reply);
}

/**
 * The venue's address in a remote account's 32 bytes: 20 bytes, right-aligned. Null where the rest is not zero, and
 * where all are: the address of zeros is nobody's, yet the venue reports holdings of it too.
 */
export function perpAddress(remoteAccountHex: string): string | null {
  return /^0{24}(?!0{40})[0-9a-f]{40}$/.test(remoteAccountHex) ? `0x${remoteAccountHex.slice(24)}` : null;
}
