import { expect, test } from 'vitest';
import { readFlags, wholeNumber } from '../../runtime/config/flags.ts';
import { ConfigError } from '../../runtime/errors.ts';

const COMMAND = {
  usage: 'npm run example',
  about: 'An example.',
  flags: {
    from: { type: 'string', value: 'SLOT', help: 'where to begin' },
    quick: { type: 'boolean', help: 'less of it' },
  },
} as const;

test('known flags are read as --name value and as --name=value', () => {
  expect(readFlags(COMMAND, ['--from', '12', '--quick'])).toMatchObject({ from: '12', quick: true });
  expect(readFlags(COMMAND, ['--from=12'])).toMatchObject({ from: '12' });
});

test.each([['--form', '12'], ['stray'], ['--from'], ['--quick=yes']])(
  'an unknown flag, a stray word, a missing or a needless value is an error (%s)',
  (...args) => {
    expect(() => readFlags(COMMAND, args)).toThrow(ConfigError);
    expect(() => readFlags(COMMAND, args)).toThrow(/npm run example -- --help/);
  },
);

test('an unknown flag that is a variable is reported as one, and after a verb the --help hint has one "--"', () => {
  expect(() => readFlags(COMMAND, ['--data-dir', 'x'])).toThrow(
    "Unknown option '--data-dir': DATA_DIR is a variable of the environment. npm run example -- --help",
  );
  expect(() => readFlags({ ...COMMAND, usage: 'npm run example -- verb' }, ['--form'])).toThrow(
    "Unknown option '--form'. npm run example -- verb --help lists the flags.",
  );
});

test('a negative number is read as the value of a flag, and is an error where no value is due', () => {
  expect(readFlags(COMMAND, ['--from', '-5', '--quick'])).toMatchObject({ from: '-5', quick: true });
  expect(() => readFlags(COMMAND, ['--quick', '-5'])).toThrow(ConfigError);
});

test('every error about flags is one line with a --help hint and without a doubled full stop', () => {
  for (const args of [['--from', '--quick'], ['--from', '-h'], ['--form', '1'], ['--quick=yes'], ['stray']]) {
    expect(() => readFlags(COMMAND, args)).toThrow(
      /^[^\n]*[^.\n]\. npm run example -- --help lists the flags\.$/,
    );
  }
  expect(() => readFlags(COMMAND, ['--from', '--quick'])).toThrow(
    '--from needs a value, and "--quick" is a flag.',
  );
});

test.each(['-1', '1.5', '1e3', '', ' 1', '99999999999999999'])('"%s" is no whole number', (text) => {
  expect(() => wholeNumber('from', text)).toThrow(/^--from must be a whole number/);
});
