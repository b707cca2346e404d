import '../../support/keep-compiled.ts';

/** Preloaded into the product's processes: each ends with the process that started it, and its clock can be stopped. */
const now = Date.now;
let stoppedAt: number | null = null;

Date.now = () => stoppedAt ?? now();
process.on('message', (message: { stopClockAt?: number }) => {
  if (message.stopClockAt === undefined) return;
  stoppedAt = message.stopClockAt;
  process.send?.({ stoppedClockAt: stoppedAt });
});
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel?.unref();
