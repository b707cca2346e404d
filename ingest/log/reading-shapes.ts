import type { CatalogueRow, CurrencyRow, Reading } from '../../schemas/readings.ts';
import {
  finite,
  firstInvalidField,
  flag,
  listOf,
  objectOf,
  orAbsent,
  orNull,
  type Shape,
  text,
  u64Text,
  upTo,
  whole,
} from './shapes.ts';

type ReadingOf<T extends Reading['type']> = Extract<Reading, { type: T }>;

const U8 = 0xff;
const U32 = 0xffff_ffff;

const SHAPES: { [T in Reading['type']]: Shape<Omit<ReadingOf<T>, 'type'>> } = {
  venue_account: {
    ...{ venueAccount: text, venue: text, reachable: flag, venueTime: orNull(whole) },
    ...{ equity: orNull(text), notional: orNull(text), reason: orNull(text), error: orNull(text) },
  },
  stream: {
    ...{ connected: flag, since: upTo(Number.MAX_SAFE_INTEGER), reason: orNull(text) },
    ...{ addresses: upTo(U32), overRpc: upTo(U32), listed: orAbsent(flag) },
    listedSlot: orAbsent(orNull(u64Text)),
  },
  venue_status: { venue: text, ok: flag, error: orNull(text) },
  program_status: { program: text, address: text, exists: flag, error: orNull(text) },
  catalogue: {
    rows: listOf(
      objectOf<CatalogueRow>({
        ...{ mint: text, symbol: text, name: text, decimals: upTo(U8), category: text },
        ...{ launchable: flag, launchpadReady: flag, logoUrl: orNull(text) },
      }),
    ),
  },
  price: {
    ...{ mint: text, source: text, usd: orNull(text), observedAt: orNull(text) },
    ...{ startMarketCapUsd: orNull(finite), graduationMarketCapUsd: orNull(finite) },
    graduationMultiple: orNull(finite),
  },
  metadata: { mint: text, uri: text, imageUrl: orNull(text), error: orNull(text) },
  currencies: {
    items: listOf(
      objectOf<CurrencyRow>({ currency: text, spotPrice: orNull(text), hasOptions: flag, hasPerps: flag }),
    ),
  },
};

/** Older logs name a token account in place of the venue account: stored under that, no query asks for the reading. */
const byVenueAccount = ({ tokenAccount, ...rest }: { tokenAccount?: unknown }): object =>
  tokenAccount === undefined ? rest : { ...rest, venueAccount: tokenAccount };

/**
 * Checks a reading of the log. One that only a later version knows has no row, and could keep its batch from being
 * applied for ever.
 * @throws TypeError where its kind is not known, or a field is missing or has another type
 */
export function knownReading(value: unknown): Reading {
  const { type } = (value ?? {}) as { type?: unknown };
  if (typeof type !== 'string' || !Object.hasOwn(SHAPES, type))
    throw new TypeError('a reading of no kind that is known');
  const reading = byVenueAccount(value as object);
  const invalid = firstInvalidField(reading, SHAPES[type as Reading['type']] as Shape<object>);
  if (invalid !== null) throw new TypeError(`a reading of ${type} without its ${invalid}`);
  return reading as Reading;
}
