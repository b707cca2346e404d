import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config/config.ts';
import { logLevelOf } from '../../start/log-level.ts';

test.each([
  [{}, 'warn'],
  [{ LOG_LEVEL: '' }, 'warn'],
  [{ LOG_LEVEL: 'info' }, 'info'],
  [{ LOG_LEVEL: 'debug' }, 'debug'],
  [{ LOG_LEVEL: 'error' }, 'error'],
])('npm start with the environment %j has log level %s', (env, level) => {
  expect(logLevelOf(readConfig(env), env)).toBe(level);
});
