import '../../runtime/process/node-version.ts';
import { constants, setPriority } from 'node:os';
import { runMain } from '../../runtime/process/lifecycle.ts';

await runMain(async (signal) => {
  // Services on the same machine come first. Set before the import: loading the modules takes its share, too.
  setPriority(constants.priority.PRIORITY_LOW);
  const { audit } = await import('../operate/audit/command.ts');
  await audit(signal);
});
