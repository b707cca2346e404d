import { parseArgs } from 'node:util';
import { ConfigError, messageOf } from '../errors.ts';
import { readVariables } from './variables.ts';

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
  // A usage with a verb holds the two dashes of npm already.
  const help = command.usage.includes(' -- ') ? '--help' : '-- --help';
  const hint = `${command.usage} ${help} lists the flags.`;
  const given = withValues(args, command.flags, hint);
  let values: FlagValues;
  try {
    values = parseArgs({ args: given, options: { ...options, help: { type: 'boolean', short: 'h' } } })
      .values as FlagValues;
  } catch (error) {
    throw new ConfigError(`${messageOf(error).replace(/\.$/, '')}${variableMeant(error)}. ${hint}`);
  }
  if (values.help === true) {
    process.stdout.write(helpText(command));
    process.exit(0);
  }
  return values;
}

/** A hint for an unknown flag that is named like a variable: --port is meant as PORT. Empty for other errors. */
function variableMeant(error: unknown): string {
  const flag = /^Unknown option '--([a-z-]+)/.exec(messageOf(error))?.[1];
  if (flag === undefined) return '';
  const name = flag.toUpperCase().replaceAll('-', '_');
  return readVariables().has(name) ? `: ${name} is a variable of the environment` : '';
}

/**
 * The arguments, with a negative number joined to its flag as the value that it is meant as: the check of that flag
 * then refuses it in words.
 * @throws ConfigError where a flag stands in the place of a value.
 */
function withValues(args: readonly string[], flags: Command['flags'], hint: string): string[] {
  const given: string[] = [];
  for (const arg of args) {
    const before = given.at(-1) ?? '';
    const awaits = before.startsWith('--') && flags[before.slice(2)]?.type === 'string';
    if (!awaits || !arg.startsWith('-')) given.push(arg);
    else if (/^-\d/.test(arg)) given[given.length - 1] = `${before}=${arg}`;
    else throw new ConfigError(`${before} needs a value, and "${arg}" is a flag. ${hint}`);
  }
  return given;
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
