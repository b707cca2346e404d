import { describe, expect, test } from 'vitest';
import { readOptions } from '../../devnet/options.ts';

const NOW = 1_760_000_000_000;

describe('the flags of devnet', () => {
  test('default to a chain in memory; --history and --past move its genesis time back from now', () => {
    expect(readOptions([], NOW)).toMatchObject({ seed: '1', dir: null, portBase: null, genesisTime: NOW });
    expect(readOptions(['--history', '100'], NOW)?.genesisTime).toBe(NOW - 40_000);
    expect(readOptions(['--history', '100', '--past', '2'], NOW)?.genesisTime).toBe(NOW - 7_200_000);
  });

  test('take a genesis time as ISO 8601 or milliseconds', () => {
    expect(readOptions(['--genesis-time', '2026-01-01T00:00:00Z'], NOW)?.genesisTime).toBe(1_767_225_600_000);
    expect(readOptions(['--genesis-time', '5000'], NOW)?.genesisTime).toBe(5000);
  });

  test.each([
    [['--policies', 'many'], /--policies must be a whole number/],
    [['--rate', '-1'], /--rate must be a number from 0 to 1000, not "-1"/],
    [['--rate', ''], /--rate must be/],
    [['--history', '-5'], /--history must be a whole number from 0 to \d+, not "-5"/],
    [['--history', '--past', '2'], /--history needs a value, and "--past" is a flag/],
    [['--history'], /argument missing/],
    [['--past', '1e9'], /--past must be a whole number from 0 to 8784/],
    [['--genesis-time', 'soon'], /--genesis-time is no time/],
    [['--genesis-time', '99999999999999999999'], /--genesis-time is no time/],
    [['--unheard-of'], /Unknown option/],
    [['stray'], /positional/],
  ])('refuse %j with a one-line error', (args, sentence) => {
    expect(() => readOptions(args, NOW)).toThrow(sentence);
    expect(() => readOptions(args, NOW)).toThrow(/^[^\n]+$/);
  });
});
