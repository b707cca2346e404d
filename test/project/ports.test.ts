import { expect, test, vi } from 'vitest';

vi.mock('node:crypto', async (original) => ({ ...(await original<object>()), randomInt: () => 7 }));

/** `freePort` of another run that begins at the same number. */
async function ofAnotherRun() {
  vi.resetModules();
  return (await import('../support/free-port.ts')).freePort;
}

test.runIf(process.platform === 'linux')(
  'freePort gives parallel test runs different ports, even before anything listens on them',
  async () => {
    const runs = [await ofAnotherRun(), await ofAnotherRun(), await ofAnotherRun()];
    const chosen: number[] = [];
    for (const freePort of runs) chosen.push(await freePort(), await freePort());
    expect(new Set(chosen).size).toBe(chosen.length);
  },
);
