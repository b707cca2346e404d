/**
 * Reads many addresses, one such reading at a time: what is asked for meanwhile is one more behind it, of all that were
 * named, at the newest of the slots. Who asks more often than a reading takes has as many under way as who asks once.
 */
export function createJoinedReading(
  read: (addresses: readonly string[], notBefore: bigint) => Promise<unknown>,
): (addresses: readonly string[], notBefore: bigint) => void {
  let waiting = new Set<string>();
  let least = 0n;
  let running = false;

  const run = async () => {
    running = true;
    while (waiting.size > 0) {
      const addresses = [...waiting];
      waiting = new Set();
      await read(addresses, least);
    }
    running = false;
  };
  return (addresses, notBefore) => {
    for (const address of addresses) waiting.add(address);
    if (notBefore > least) least = notBefore;
    if (!running) void run();
  };
}
