import '../../runtime/process/node-version.ts';
import { constants, setPriority } from 'node:os';
import { runMain } from '../../runtime/process/lifecycle.ts';

await runMain(async (signal) => {
  // What serves on the same machine comes first, and what is loaded here takes its share too.
  setPriority(constants.priority.PRIORITY_LOW);
  const { audit } = await import('../operate/audit/command.ts');
  await audit(signal);
});
