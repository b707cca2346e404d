import '../runtime/process/node-version.ts';
import { type FlagValues, readFlags, wholeNumber } from '../runtime/config/flags.ts';
import { ConfigError } from '../runtime/errors.ts';
import { runMain } from '../runtime/process/lifecycle.ts';
import type { Row } from './support/row.ts';

/** The lines of a benchmark, all at its end or one by one. */
type Rows = readonly Row[] | AsyncIterable<Row>;

/** Each imports its libraries only when it runs, so that they do not count in the memory of the others. */
const BENCHES: Record<string, (flags: FlagValues) => Promise<Rows>> = {
  pipeline: async (flags) => {
    const { benchPipeline } = await import('./pipeline/pipeline.ts');
    return benchPipeline(number(flags, 'slots', 250), number(flags, 'hold', 60));
  },
  rollups: async (flags) => {
    const { benchRollups } = await import('./rollups.ts');
    return benchRollups(number(flags, 'past', 300_000));
  },
  kafka: async (flags) => {
    const { benchKafka } = await import('./kafka.ts');
    return benchKafka(number(flags, 'slots', 250));
  },
  freshness: async (flags) => {
    const { benchFreshness } = await import('./freshness.ts');
    return benchFreshness(number(flags, 'seconds', 60), number(flags, 'rate', 195));
  },
  agents: async (flags) => {
    const { benchAgents } = await import('./agents/agents.ts');
    return benchAgents(number(flags, 'minutes', 5));
  },
  audit: async (flags) => {
    const { benchAudit } = await import('./audit.ts');
    return benchAudit(number(flags, 'turns', 4));
  },
  reads: async (flags) => {
    const { benchReads } = await import('./reads/reads.ts');
    return benchReads({
      seconds: number(flags, 'seconds', 10),
      policies: number(flags, 'policies', 300),
      events: number(flags, 'events', 500_000),
      updates: number(flags, 'updates', 12),
      peers: flags.alone !== true,
      idle: flags.alone !== true,
    });
  },
  streams: async (flags) => {
    const { benchStreams } = await import('./streams/streams.ts');
    return benchStreams(number(flags, 'seconds', 20));
  },
  growth: async (flags) => {
    const { benchGrowth } = await import('./reads/growth.ts');
    return benchGrowth({
      policies: number(flags, 'policies', 100_000),
      events: number(flags, 'events', 5_000_000),
    });
  },
  paint: async () => (await import('./paint.ts')).benchPaint(),
  decode: async () => (await import('./decode/decode.ts')).benchDecode(),
};

const COMMAND = {
  usage: 'npm run bench',
  about: 'Runs the benchmarks beside their baselines and prints a table. Exits with 1 if a bar is missed.',
  flags: {
    only: { type: 'string', value: 'NAME', help: `one of ${Object.keys(BENCHES).join(', ')} (default all)` },
    slots: {
      type: 'string',
      value: 'N',
      help: 'slots of 400 account updates and 40 transactions (default 250)',
    },
    past: { type: 'string', value: 'SLOTS', help: 'the longer history of rollups (default 300000)' },
    hold: { type: 'string', value: 'SECONDS', help: 'how long the store is held back (default 60)' },
    seconds: {
      type: 'string',
      value: 'N',
      help: 'how long freshness is measured (default 60), streams (20), and each line of reads (10)',
    },
    policies: {
      type: 'string',
      value: 'N',
      help: 'policies that reads asks for (default 300; 10000, 100000), and of growth (default 100000)',
    },
    events: {
      type: 'string',
      value: 'N',
      help: 'events behind reads (default 500000; 50000000), and behind growth (default 5000000)',
    },
    updates: { type: 'string', value: 'N', help: 'states a second written beside reads (default 12; 1000)' },
    alone: { type: 'boolean', help: 'reads without its peers and without npm start' },
    minutes: { type: 'string', value: 'N', help: 'how long agents post beside readers (default 5)' },
    turns: { type: 'string', value: 'N', help: 'of 20 s each, with an audit and without (default 4)' },
    rate: { type: 'string', value: 'N', help: 'actions a slot while freshness is measured (default 195)' },
  },
} as const;

const number = (flags: FlagValues, name: string, unset: number) =>
  wholeNumber(name, String(flags[name] ?? unset), 1);

/** Width of the first column. */
const WIDTH = 58;

await runMain(async () => {
  const flags = readFlags(COMMAND, process.argv.slice(2));
  const { only } = flags;
  if (only !== undefined && !Object.hasOwn(BENCHES, String(only)))
    throw new ConfigError(`--only must be one of ${Object.keys(BENCHES).join(', ')}`);
  // Check all numbers now: a wrong one should not be found only when the last benchmark begins.
  for (const [name, value] of Object.entries(flags))
    if (name !== 'only' && typeof value === 'string') wholeNumber(name, value, 1);
  let missed = false;
  for (const [name, run] of Object.entries(BENCHES)) {
    if (only !== undefined && only !== name) continue;
    process.stdout.write(`${name}\n`);
    for await (const { name: what, value, ok } of await run(flags)) {
      process.stdout.write(
        `  ${what.padEnd(WIDTH)}  ${value}${ok === null ? '' : ok ? '  ok' : '  MISSED'}\n`,
      );
      missed ||= ok === false;
    }
  }
  if (missed) throw new ConfigError('a bar was missed');
});
