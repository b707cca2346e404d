import { expect, test } from 'vitest';
import { readConfig } from '../../runtime/config/config.ts';
import { logLevelOf } from '../../start/log-level.ts';

test.each([
  [{}, 'info', 'warn'],
  [{ LOG_LEVEL: '' }, 'info', 'warn'],
  [{ LOG_LEVEL: 'info' }, 'info', 'info'],
  [{ LOG_LEVEL: 'debug' }, 'debug', 'debug'],
  [{ LOG_LEVEL: 'error' }, 'error', 'error'],
])('npm start with the environment %j has log level %s, and %s on a terminal', (env, level, onTerminal) => {
  const config = readConfig(env);
  expect(logLevelOf(config, env, false)).toBe(level);
  expect(logLevelOf(config, env, true)).toBe(onTerminal);
});
