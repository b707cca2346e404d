import { parseArgs } from 'node:util';
import { ConfigError, messageOf } from '../errors.ts';

export interface Flag {
  type: 'string' | 'boolean';
  /** What `--help` says of it. */
  help: string;
  /** How `--help` shows its value. */
  value?: string;
}

export interface Command {
  /** As it is typed: `npm run backfill`. */
  usage: string;
  about: string;
  flags: Record<string, Flag>;
}

export type FlagValues = Record<string, string | boolean | undefined>;

/**
 * Reads the flags of a command. `--help` prints what it does and ends the process with 0.
 * @throws ConfigError for an unknown flag or a stray word.
 */
export function readFlags(command: Command, args: readonly string[]): FlagValues {
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, { type }]) => [name, { type }]),
  );
  let values: FlagValues;
  try {
    values = parseArgs({ args: [...args], options: { ...options, help: { type: 'boolean', short: 'h' } } })
      .values as FlagValues;
  } catch (error) {
    throw new ConfigError(`${messageOf(error)}. ${command.usage} -- --help lists the flags.`);
  }
  if (values.help === true) {
    process.stdout.write(helpText(command));
    process.exit(0);
  }
  return values;
}

function helpText({ usage, about, flags }: Command): string {
  const rows = Object.entries({ ...flags, help: { type: 'boolean', help: 'this text' } as Flag }).map(
    ([name, flag]) =>
      [`  --${name}${flag.type === 'string' ? ` ${flag.value ?? 'VALUE'}` : ''}`, flag.help] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return `${usage}\n\n${about}\n\n${rows.map(([left, right]) => left.padEnd(width) + right).join('\n')}\n`;
}

/** A flag that is a whole number from `least` up. @throws ConfigError */
export function wholeNumber(name: string, text: string, least = 0): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < least)
    throw new ConfigError(`--${name} must be a whole number from ${least}, not "${text}"`);
  return value;
}
