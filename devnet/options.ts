import { parseArgs } from 'node:util';
import { SLOT_MS } from './chain/chain.ts';
import { type ProviderModes, readModes } from './geyser/modes.ts';
import { RPC_MANNERS, type RpcMannersName } from './rpc/manners.ts';

export interface DevnetOptions {
  seed: string;
  policies: number;
  /** How many slots of past a fresh chain starts with; with `pastHours`, how many blocks. */
  historySlots: number;
  /** Hours over which the blocks of that past are spread; 0: they follow each other. */
  pastHours: number;
  /** Time of slot 0, in unix milliseconds. */
  genesisTime: number;
  /** Pace of live blocks; block times advance 400 ms a slot whatever this is. */
  slotMs: number;
  /** Actions a slot, on average. */
  rate: number;
  dir: string | null;
  host: string;
  /** Null: the fixed ports. 0: any free ones. Else: this one and the two after it. */
  portBase: number | null;
  xToken: string | null;
  /** Slots that the stream can replay. */
  retentionSlots: number;
  /** How the stream differs from a provider that has everything. */
  provider: ProviderModes;
  rpcManners: RpcMannersName[];
  /** Base URL of the service that the agents post to; null: they are silent. */
  api: string | null;
  /** How that service names itself in the challenges that an agent signs. */
  publicUrl: string | null;
  parentPid: number | null;
}

export const HELP = `Runs the local chain with its Geyser stream, JSON-RPC and venues.

  --seed TEXT           the same seed makes the same chain (default 1)
  --policies N          policies, created over time (default 40)
  --history SLOTS       a past of this many slots at the first start (default 0)
  --past HOURS          spreads the blocks of that past over so many hours, and makes them, fast, once a stream is open, so
                        that its client sees all of them (default 0: block after block, before it serves)
  --genesis-time TIME   time of slot 0: ISO 8601 or unix milliseconds (default: so that the past ends now)
  --slot-ms MS          pace of new slots (default 400)
  --rate N              actions per slot, on average (default 2)
  --dir PATH            keeps the ledger there and continues from it (default: in memory, for hours rather than days);
                        agent.json beside it holds the key of one policy's agent, which is never rotated
  --host ADDRESS        to listen on (default 127.0.0.1)
  --port-base PORT      stream, RPC and venues on this port and the two after it; 0 takes free ones
                        (default: 10000, 8899 and 8900)
  --x-token TEXT        x-token that the stream requires of its clients (default: none)
  --retention SLOTS     how far back the stream replays (default 600)
  --provider MODES      a stream with a provider's limits, as in replay=off,addresses=10,late: replay=kept|lenient|
                        off|failed|out-of-range|invalid|data-loss|silent|unavailable|empty, named=N,
                        addresses=N, terse, requestBytes=N, pings, lag=N, late, servers=N, nameless, parentless,
                        beside=taken|unavailable|ended|limited|pings,
                        streams=N, newest (beyond those the oldest ends)
  --rpc-manners NAMES   bad manners of its JSON-RPC, comma-separated: ${Object.keys(RPC_MANNERS).join(', ')}
  --api URL             agents of its policies post to the service at this address as they act (default: they post nothing)
  --public-url URL      PUBLIC_URL of that service, as it stands in what agents sign (default: as --api)
  --parent-pid PID      ends when that process ends
  --help                this text

Prints one line of JSON with all addresses once everything answers.
`;

/** A year: a longer past is of no use, and the number of slots grows with it. */
const MOST_HOURS = 8_784;
/** Block times are written with four digits of a year. */
const LAST_TIME = Date.UTC(9999, 0);

const FLAGS = {
  seed: { type: 'string', default: '1' },
  policies: { type: 'string', default: '40' },
  history: { type: 'string', default: '0' },
  past: { type: 'string', default: '0' },
  'genesis-time': { type: 'string' },
  'slot-ms': { type: 'string', default: String(SLOT_MS) },
  rate: { type: 'string', default: '2' },
  dir: { type: 'string' },
  host: { type: 'string', default: '127.0.0.1' },
  'port-base': { type: 'string' },
  'x-token': { type: 'string' },
  retention: { type: 'string', default: '600' },
  provider: { type: 'string', default: '' },
  'rpc-manners': { type: 'string' },
  api: { type: 'string' },
  'public-url': { type: 'string' },
  'parent-pid': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const HINT = 'npm run devnet -- --help lists the flags';

/** Parses the flags. A negative number is taken as a value, so that it is refused as one. @throws RangeError */
function given(args: readonly string[]) {
  const joined: string[] = [];
  for (const arg of args) {
    const before = joined.at(-1) ?? '';
    const awaits = before.startsWith('--') && FLAGS[before.slice(2) as keyof typeof FLAGS]?.type === 'string';
    if (!awaits || !arg.startsWith('-')) joined.push(arg);
    else if (/^-\d/.test(arg)) joined[joined.length - 1] = `${before}=${arg}`;
    else throw new RangeError(`${before} needs a value, and "${arg}" is a flag. ${HINT}`);
  }
  try {
    return parseArgs({ args: joined, options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new RangeError(`${(error as Error).message.replace(/\.$/, '')}. ${HINT}`);
  }
}

function whole(flag: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new RangeError(`--${flag} must be a whole number from ${least} to ${most}, not "${text}"`);
  }
  return value;
}

function genesis(text: string | undefined, pastMs: number, nowMs: number): number {
  if (text === undefined) return nowMs - pastMs;
  const time = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (!(time >= 0 && time <= LAST_TIME)) throw new RangeError(`--genesis-time is no time: "${text}"`);
  return time;
}

function mannersOf(text: string | undefined): RpcMannersName[] {
  if (text === undefined) return [];
  return text.split(',').map((name) => {
    if (name in RPC_MANNERS) return name as RpcMannersName;
    throw new RangeError(`--rpc-manners knows no "${name}", only ${Object.keys(RPC_MANNERS).join(', ')}`);
  });
}

function addressOf(flag: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new RangeError(`--${flag} is no http address: "${text}"`);
  return new URL(text).href.replace(/\/+$/, '');
}

/** Reads the flags; null where help was asked for. @throws RangeError with a sentence on a bad one */
export function readOptions(args: readonly string[], nowMs: number): DevnetOptions | null {
  const values = given(args);
  if (values.help) return null;
  const historySlots = whole('history', values.history, 0, 50_000_000);
  const pastHours = whole('past', values.past, 0, MOST_HOURS);
  const rate = Number(values.rate);
  if (!/^\d*\.?\d+$/.test(values.rate) || rate > 1000)
    throw new RangeError(`--rate must be a number from 0 to 1000, not "${values.rate}"`);
  const portBase = values['port-base'];
  const parentPid = values['parent-pid'];
  return {
    seed: values.seed,
    policies: whole('policies', values.policies, 1, 1_000_000),
    historySlots,
    pastHours,
    genesisTime: genesis(
      values['genesis-time'],
      pastHours === 0 ? historySlots * SLOT_MS : pastHours * 3_600_000,
      nowMs,
    ),
    slotMs: whole('slot-ms', values['slot-ms'], 1, 60_000),
    rate,
    dir: values.dir ?? null,
    host: values.host,
    portBase: portBase === undefined ? null : whole('port-base', portBase, 0, 65_000),
    xToken: values['x-token'] ?? null,
    retentionSlots: whole('retention', values.retention, 1, 1_000_000),
    provider: readModes(values.provider),
    rpcManners: mannersOf(values['rpc-manners']),
    api: addressOf('api', values.api),
    publicUrl: addressOf('public-url', values['public-url'] ?? values.api),
    parentPid: parentPid === undefined ? null : whole('parent-pid', parentPid, 1, 2 ** 31),
  };
}
