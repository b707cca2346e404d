import '../runtime/node-version.ts';
import { readFlags, wholeNumber } from '../runtime/flags.ts';
import { runMain } from '../runtime/lifecycle.ts';
import { benchPipeline } from './pipeline.ts';

const COMMAND = {
  usage: 'npm run bench',
  about: 'The benchmarks beside their baselines, as a table. Ends with 1 where a bar is missed.',
  flags: {
    slots: {
      type: 'string',
      value: 'N',
      help: 'slots of 400 account updates and 40 transactions (default 250)',
    },
    hold: { type: 'string', value: 'SECONDS', help: 'how long the store is held back (default 60)' },
  },
} as const;

await runMain(async () => {
  const flags = readFlags(COMMAND, process.argv.slice(2));
  const slots = wholeNumber('slots', String(flags.slots ?? 250), 1);
  const hold = wholeNumber('hold', String(flags.hold ?? 60), 1);
  const pipeline = await benchPipeline(slots, hold);
  // The decoders' baselines bring large libraries: they are not the pipeline's memory.
  const { benchDecode } = await import('./decode.ts');
  const decode = await benchDecode();
  const rows = decode.map(({ name, ours, baseline, ratio, bar }) => ({
    name,
    value: `${ours.toFixed(0)}/s against ${baseline.toFixed(0)}/s: ${ratio.toFixed(1)}×${bar === null ? '' : ` (bar ${bar}×)`}`,
    ok: bar === null ? null : ratio >= bar,
  }));
  const all = [...rows, ...pipeline];
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { name, value, ok } of all) {
    process.stdout.write(`${name.padEnd(width)}  ${value}${ok === null ? '' : ok ? '  ok' : '  MISSED'}\n`);
  }
  if (all.some(({ ok }) => ok === false)) throw new Error('a bar was missed');
});
