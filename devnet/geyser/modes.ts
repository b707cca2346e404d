/** What a provider's replay does with a `from_slot`; `kept` is the original server's. */
export const REPLAYS = [
  'kept',
  /** Above the tip it begins with nothing, as servers before 14.2.0. */
  'lenient',
  'off',
  'failed',
  'out-of-range',
  'invalid',
  'data-loss',
  /** The stream ends without a word. */
  'silent',
  /** As if nobody was there, though who asks for no replay is served. */
  'unavailable',
  /** Taken, and nothing of the past comes. */
  'empty',
] as const;
export type ReplayMode = (typeof REPLAYS)[number];

/** What becomes of a stream that asks for accounts by their addresses alone; others go on. */
export const BESIDE_MODES = [
  'taken',
  /** It ends with UNAVAILABLE, as behind a gateway that has no server for it. */
  'unavailable',
  /** It ends at once, without a word. */
  'ended',
  /** It ends with RESOURCE_EXHAUSTED, for a limit that is none of addresses. */
  'limited',
  /** It is taken, and nothing but pings comes. */
  'pings',
] as const;
export type BesideMode = (typeof BESIDE_MODES)[number];

/** How a provider differs from one that has everything. */
export interface ProviderModes {
  replay: ReplayMode;
  /** Most named filters of a kind in one request; null: any. */
  named: number | null;
  /** Most addresses of a named filter of accounts; null: any. */
  addresses: number | null;
  /** Refuses a filter without naming its cap. */
  terse: boolean;
  /** A request above this ends the stream without a word. */
  requestBytes: number;
  /** Nothing but pings comes. */
  pings: boolean;
  /** A stream is told that it lags after this many updates; null: only where it does. */
  lag: number | null;
  /** Some updates of a slot come after its block meta, as from older servers. */
  late: boolean;
  /** That share the connections; each counts its write versions by itself. */
  servers: number;
  /** No update says by which filters it comes. */
  nameless: boolean;
  /** No block meta says on which slot its own stands. */
  parentless: boolean;
  beside: BesideMode;
  /** Most streams at a time; null: any. */
  streams: number | null;
  /** Beyond those the oldest is ended, not the newest refused. */
  newest: boolean;
}

const MEBIBYTE = 1024 * 1024;

export const WHOLE: ProviderModes = {
  replay: 'kept',
  named: null,
  addresses: null,
  terse: false,
  requestBytes: 4 * MEBIBYTE,
  pings: false,
  lag: null,
  late: false,
  servers: 1,
  nameless: false,
  parentless: false,
  beside: 'taken',
  streams: null,
  newest: false,
};

function count(name: string, text: string | undefined): number {
  if (text === undefined || !/^\d{1,9}$/.test(text))
    throw new RangeError(`--provider ${name} needs a whole number`);
  return Number(text);
}

function oneOf<T extends string>(name: string, known: readonly T[], text: string | undefined): T {
  const found = known.find((one) => one === text);
  if (found === undefined) throw new RangeError(`--provider ${name} is one of ${known.join(', ')}`);
  return found;
}

type Reader = (text: string | undefined) => Partial<ProviderModes>;

const READERS: Record<keyof ProviderModes, Reader> = {
  replay: (text) => ({ replay: oneOf('replay', REPLAYS, text) }),
  beside: (text) => ({ beside: oneOf('beside', BESIDE_MODES, text) }),
  streams: (text) => ({ streams: count('streams', text) }),
  newest: () => ({ newest: true }),
  named: (text) => ({ named: count('named', text) }),
  addresses: (text) => ({ addresses: count('addresses', text) }),
  terse: () => ({ terse: true }),
  requestBytes: (text) => ({ requestBytes: count('requestBytes', text) }),
  pings: () => ({ pings: true }),
  lag: (text) => ({ lag: count('lag', text) }),
  late: () => ({ late: true }),
  nameless: () => ({ nameless: true }),
  parentless: () => ({ parentless: true }),
  servers: (text) => ({ servers: Math.max(1, count('servers', text)) }),
};

/** Reads `replay=off,addresses=10,late`. @throws RangeError with a sentence on a mode that is none */
export function readModes(text: string): ProviderModes {
  const modes = { ...WHOLE };
  for (const part of text.split(',').filter((some) => some !== '')) {
    const [name = '', value] = part.split('=');
    const read = READERS[name as keyof ProviderModes] as Reader | undefined;
    if (read === undefined)
      throw new RangeError(`--provider knows ${Object.keys(READERS).join(', ')}, not "${name}"`);
    Object.assign(modes, read(value));
  }
  return modes;
}
