import { grouped, scaled, short, type Unit } from './amounts.ts';
import { stamp } from './times.ts';
import { plainText } from './visible.ts';
import { shortKey, spaced } from './words.ts';

export type Summary = Record<string, string | number | boolean | null>;

/** The units of the amounts in a policy's events. */
export interface Units {
  quote: Unit;
  base: Unit;
}

/** What kind of thing an event is: money that came, moved or left, or a change of terms. */
export type Tone = 'in' | 'move' | 'out' | 'terms' | 'warning';

interface Telling {
  title: string;
  tone: Tone;
  tell(summary: Summary, units: Units): string;
}

const text = (value: Summary[string] | undefined) =>
  value === null || value === undefined ? '?' : plainText(String(value));

function amount(value: Summary[string] | undefined, unit: Unit): string {
  if (typeof value !== 'string') return '?';
  if (unit.decimals === null) return `${short(value)} base units`;
  const symbol = unit.symbol === null ? '' : ` ${apart(unit.symbol)}`;
  return `${short(scaled(value, unit.decimals))}${symbol}`;
}

/**
 * Put on both sides of names that strangers chose: right-to-left letters would otherwise move the numbers beside them.
 */
const APART = '\u2068';
const apart = (named: string) => `${APART}${named}${APART}`;

/** The parts of a text between these marks: every second one is a name that stands apart. */
export const partsOf = (told: string): string[] => told.split(APART);

const TELLINGS: Record<string, Telling> = {
  PolicyInitialised: {
    title: 'Policy created',
    tone: 'terms',
    tell: ({ mode }) => `in ${text(mode)} mode`,
  },
  VenueRegistered: {
    title: 'Venue registered',
    tone: 'terms',
    tell: ({ kind, tokenAccount }) => `${text(kind).toLowerCase()} account ${shortKey(text(tokenAccount))}`,
  },
  VenueRevoked: {
    title: 'Venue revoked',
    tone: 'terms',
    tell: ({ tokenAccount }) => `account ${shortKey(text(tokenAccount))}`,
  },
  FeesClaimed: {
    title: 'Fees claimed',
    tone: 'in',
    tell: ({ quoteAmount, baseAmount }, { quote, base }) =>
      `${amount(quoteAmount, quote)} and ${amount(baseAmount, base)}`,
  },
  Routed: {
    title: 'Fees routed',
    tone: 'move',
    tell: ({ toLp, toBankroll }, { quote }) =>
      `${amount(toBankroll, quote)} to the bankroll, ${amount(toLp, quote)} to liquidity`,
  },
  PassiveDeployed: {
    title: 'Deployed',
    tone: 'move',
    tell: ({ amount: sent }, { quote }) => `${amount(sent, quote)} to a venue account`,
  },
  AgentFundedVenue: {
    title: 'Agent funded a venue',
    tone: 'move',
    tell: ({ amount: sent, tokenAccount }, { quote }) =>
      `${amount(sent, quote)} to ${shortKey(text(tokenAccount))}`,
  },
  ProfitSwept: {
    title: 'Profit swept',
    tone: 'in',
    tell: ({ profit, toHolders, toLp }, { quote }) =>
      `${amount(profit, quote)}: ${amount(toHolders, quote)} to buybacks, ${amount(toLp, quote)} to liquidity`,
  },
  BuybackBurned: {
    title: 'Bought back and burned',
    tone: 'out',
    tell: ({ spent, burned }, { quote, base }) => `${amount(burned, base)} for ${amount(spent, quote)}`,
  },
  BaseLegBurned: {
    title: 'Base leg burned',
    tone: 'out',
    tell: ({ burned }, { base }) => amount(burned, base),
  },
  RemoteEquityReported: {
    title: 'Equity attested',
    tone: 'terms',
    tell: ({ equity, paused, tokenAccount }, { quote }) =>
      `${amount(equity, quote)} at ${shortKey(text(tokenAccount))}${paused === true ? '; too far from the last: paused' : ''}`,
  },
  CreditNoted: {
    title: 'Inference paid',
    tone: 'out',
    tell: ({ amount: spent }, { quote }) => amount(spent, quote),
  },
  AgentSet: {
    title: 'Agent changed',
    tone: 'warning',
    tell: ({ oldAgent, newAgent }) => `${shortKey(text(oldAgent))} to ${shortKey(text(newAgent))}`,
  },
  PolicyUpdated: { title: 'Terms changed', tone: 'terms', tell: () => 'by the authority' },
  PolicyLocked: { title: 'Terms locked', tone: 'terms', tell: () => 'for good' },
  PolicyPaused: {
    title: 'Pause',
    tone: 'warning',
    tell: ({ paused, by }) => `${paused === true ? 'paused' : 'lifted'} by ${text(by)}`,
  },
};

const tellingOf = (kind: string) => (Object.hasOwn(TELLINGS, kind) ? TELLINGS[kind] : undefined);

/** An event in words, with names set apart (`partsOf`); a kind that is not known here is described by its fields. */
export function told(
  kind: string,
  summary: Summary,
  units: Units,
): { title: string; tone: Tone; text: string } {
  const telling = tellingOf(kind);
  if (telling !== undefined)
    return { title: telling.title, tone: telling.tone, text: telling.tell(summary, units) };
  // Of an unknown kind any text may be a name that somebody chose.
  const shown = (value: Summary[string]) => (typeof value === 'string' ? apart(text(value)) : text(value));
  const fields = Object.entries(summary).map(([name, value]) => `${spaced(name)} ${shown(value)}`);
  return { title: spaced(kind), tone: 'terms', text: fields.join(', ') };
}

/** Which fields of events are amounts, and in which unit. */
export const AMOUNTS: Readonly<Record<string, keyof Units>> = {
  ...{ quoteAmount: 'quote', baseAmount: 'base', amount: 'quote', protocolCut: 'quote' },
  ...{ toLp: 'quote', toBankroll: 'quote', toHolders: 'quote', profit: 'quote', hwm: 'quote' },
  ...{ equity: 'quote', notional: 'quote', spent: 'quote', burned: 'base' },
};

/** Names for fields whose own names say little. */
const SAID: Readonly<Record<string, string>> = {
  asof: 'Reporter’s time',
  hwm: 'High water mark',
  toHolders: 'to buybacks, the holders’ share',
};

const plainly = (value: Summary[string] | undefined) =>
  value === true ? 'yes' : value === false ? 'no' : isTime(value) ? `${stamp(value)} UTC` : text(value);
const isTime = (value: Summary[string] | undefined): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);

/** All fields of an event, each amount exactly and in base units. */
export function fieldsOf(summary: Summary, units: Units): [name: string, text: string][] {
  return Object.entries(summary).map(([name, value]) => {
    const of = Object.hasOwn(AMOUNTS, name) ? AMOUNTS[name] : undefined;
    return [
      Object.hasOwn(SAID, name) ? (SAID[name] as string) : spaced(name),
      of === undefined ? plainly(value) : exactly(value, units[of]),
    ];
  });
}

function exactly(value: Summary[string] | undefined, { decimals, symbol }: Unit): string {
  if (typeof value !== 'string') return text(value);
  const base = `${grouped(value)} base units`;
  if (decimals === null) return base;
  return `${grouped(scaled(value, decimals))}${symbol === null ? '' : ` ${symbol}`} (${base})`;
}

export const KINDS = Object.keys(TELLINGS);
export const titleOf = (kind: string) => tellingOf(kind)?.title ?? spaced(kind);
