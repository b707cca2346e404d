import type { Direction } from '../../../schemas/responses/agent.ts';
import { parseDecimal } from '../../../schemas/units.ts';
import type { OptionInstrument } from '../../../schemas/venues/options.ts';
import { fieldsOf, nameOf, oneOf, stringOf, textOf } from '../body.ts';
import { Refusal } from '../refusal.ts';
import { compare, isOnStep } from './decimal.ts';

export interface OpenBody {
  instrument: string;
  direction: Direction;
  /** As the client wrote it. */
  size: string;
  reason: string;
  optionType: 'C' | 'P' | null;
  underlying: string | null;
  strike: string | null;
}

/** As for any text: a size is stored as written, and could otherwise have zeros without end. */
const SIZE_MAX = 1000;
const PLAIN_DECIMAL = /^\d+(\.\d+)?$/;
const TYPES = { C: 'C', P: 'P', call: 'C', put: 'P' } as const;
const TYPE_NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];
const NAME_MAX = 100;

/** @throws Refusal invalid_request */
export function readOpen(body: unknown): OpenBody {
  const instrument = textOf(body, 'instrument', NAME_MAX);
  const direction = oneOf(body, 'direction', ['long', 'short'] as const);
  const size = stringOf(body, 'size');
  if (size.length > SIZE_MAX || !PLAIN_DECIMAL.test(size))
    throw new Refusal(
      'invalid_request',
      `size must be a plain decimal string: digits with at most one point, ${SIZE_MAX} characters at most`,
    );
  const reason = textOf(body, 'reason');
  const given = fieldsOf(body).optionType;
  const optionType =
    given === undefined || given === null ? null : TYPES[oneOf(body, 'optionType', TYPE_NAMES)];
  const underlying = nameOf(body, 'underlying');
  return { instrument, direction, size, reason, optionType, underlying, strike: strikeOf(body) };
}

function strikeOf(body: unknown): string | null {
  const { strike } = fieldsOf(body);
  if (strike === undefined || strike === null) return null;
  const text = typeof strike === 'number' ? String(strike) : typeof strike === 'string' ? plain(strike) : '';
  if (text.length > 80 || parseDecimal(text) === null)
    throw new Refusal('invalid_request', 'strike must be a decimal, a string or a number');
  return text;
}

/**
 * Without a leading plus or trailing point, and with a zero before the point: a strike is only compared, never stored.
 */
const plain = (decimal: string): string =>
  decimal
    .replace(/^\+(?=[\d.])/, '')
    .replace(/(?<=^-?)\.(?=\d)/, '0.')
    .replace(/(?<=\d)\.(?=$|e)/i, '');

/** Compares what the agent says of the contract with what the venue says. @throws Refusal contract_mismatch */
export function mustAgree(said: OpenBody, contract: OptionInstrument): void {
  const disagree = (what: string, mine: string, theirs: string) =>
    new Refusal('contract_mismatch', `${contract.name} has the ${what} ${theirs}, not ${mine}`);
  if (said.optionType !== null && said.optionType !== contract.optionType)
    throw disagree('type', said.optionType, contract.optionType);
  if (said.underlying !== null && said.underlying !== contract.underlying)
    throw disagree('underlying', said.underlying, contract.underlying);
  if (said.strike !== null && compare(said.strike, contract.strike) !== 0)
    throw disagree('strike', said.strike, contract.strike);
}

/** A size that the venue would round is refused, never rounded. @throws Refusal size_out_of_range, size_off_step */
export function mustFit(size: string, contract: OptionInstrument): void {
  const { minimumAmount, maximumAmount, amountStep } = contract;
  if (compare(size, '0') === 0 || compare(size, minimumAmount) < 0 || compare(size, maximumAmount) > 0)
    throw new Refusal('size_out_of_range', `size must be from ${minimumAmount} to ${maximumAmount}`);
  if (!isOnStep(size, amountStep))
    throw new Refusal('size_off_step', `size must be a multiple of ${amountStep}; it is never rounded`);
}
