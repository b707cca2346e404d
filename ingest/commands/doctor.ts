import '../../runtime/process/node-version.ts';
import { readFlags } from '../../runtime/config/flags.ts';
import { loadConfig } from '../../runtime/config/load.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { runMain } from '../../runtime/process/lifecycle.ts';
import { checksOf } from '../operate/doctor/checks.ts';
import { runChecks } from '../operate/doctor/report.ts';

const COMMAND = {
  usage: 'npm run doctor',
  about:
    'Checks every configured endpoint by asking for something that it must know, and prints what it finds.\nChanges nothing, except that it creates and deletes a consumer group of its own in Kafka. Exits with 1 if a\ncheck fails, or if no endpoint is configured.',
  flags: {},
} as const;

await runMain(async (signal) => {
  readFlags(COMMAND, process.argv.slice(2));
  const checks = checksOf(loadConfig());
  const configured = checks.filter(({ run }) => run !== null).length;
  const failed = await runChecks(checks, (line) => process.stdout.write(`${line}\n`), signal);
  if (configured === 0)
    throw new ConfigError(
      'none of these is set, in the environment or an .env file: there is nothing to ask',
    );
  if (failed > 0) throw new ConfigError(`${failed} of ${configured} configured endpoints failed`);
});
