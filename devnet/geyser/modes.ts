/** How a provider answers a `from_slot`; `kept` is what the original server does. */
export const REPLAYS = [
  'kept',
  /** Like `kept`, but a `from_slot` above the tip begins live, as with servers before 14.2.0. */
  'lenient',
  'off',
  'failed',
  'out-of-range',
  'invalid',
  'data-loss',
  /** The stream ends without an error. */
  'silent',
  /** UNAVAILABLE, as if there were no server, though streams that ask for no replay are served. */
  'unavailable',
  /** The request is taken, but nothing of the past is sent. */
  'empty',
] as const;
export type ReplayMode = (typeof REPLAYS)[number];

/** What happens to a stream that names accounts by address; others are served. */
export const BESIDE_MODES = [
  'taken',
  /** It ends with UNAVAILABLE, as behind a gateway that has no server for it. */
  'unavailable',
  /** It ends at once, without an error. */
  'ended',
  /** It ends with RESOURCE_EXHAUSTED, for a limit other than that of addresses. */
  'limited',
  /** It is taken, but only pings are sent. */
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
  /** Refuses a filter that is above a cap without saying what the cap is. */
  terse: boolean;
  /** A larger request ends the stream without an error. */
  requestBytes: number;
  /** Only pings are sent. */
  pings: boolean;
  /** A stream is ended as lagging after this many updates; null: only where it does lag. */
  lag: number | null;
  /** Some updates of a slot are sent after its block meta, as by older servers. */
  late: boolean;
  /** How many servers share the connections; each has its own count of write versions. */
  servers: number;
  /** No update names the filters that it matches. */
  nameless: boolean;
  /** No block meta names its parent slot. */
  parentless: boolean;
  beside: BesideMode;
  /** Most streams at a time; null: any. */
  streams: number | null;
  /** Where one more than `streams` begins, the oldest is ended instead of the new one refused. */
  newest: boolean;
}

const MEBIBYTE = 1024 * 1024;

export const NO_LIMITS: ProviderModes = {
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
  const modes = { ...NO_LIMITS };
  for (const part of text.split(',').filter((some) => some !== '')) {
    const [name = '', value] = part.split('=');
    const read = READERS[name as keyof ProviderModes] as Reader | undefined;
    if (read === undefined)
      throw new RangeError(`--provider knows ${Object.keys(READERS).join(', ')}, not "${name}"`);
    Object.assign(modes, read(value));
  }
  return modes;
}
