type Ask = (addresses: readonly string[], notBefore: bigint) => void;

/** What is asked for at a slot so far before another does not wait for that one: the chain may never come to it. */
const FAR_SLOTS = 1_000n;

/**
 * Reads many addresses, one such reading at a time: what is asked for meanwhile is one more behind it, of all that were
 * named, at the newest of the slots. Who asks more often than a reading takes has as many under way as who asks once.
 */
export function createJoinedReading(
  read: (addresses: readonly string[], notBefore: bigint) => Promise<unknown>,
): Ask {
  let waiting = new Set<string>();
  /** The newest slot that those are asked for at. */
  let least = 0n;
  /** That of the reading that is under way. */
  let underWay: bigint | null = null;
  /** What must not wait for a slot far behind its own. */
  let earlier: Ask | null = null;
  const readApart: Ask = (addresses, notBefore) => {
    earlier ??= createJoinedReading(read);
    earlier(addresses, notBefore);
  };

  const run = async () => {
    try {
      while (waiting.size > 0) {
        const addresses = [...waiting];
        underWay = least;
        waiting = new Set();
        least = 0n;
        await read(addresses, underWay);
      }
    } finally {
      underWay = null;
    }
  };
  return (addresses, notBefore) => {
    if (addresses.length === 0) return;
    if (underWay !== null && notBefore + FAR_SLOTS < (least > underWay ? least : underWay))
      return readApart(addresses, notBefore);
    if (least + FAR_SLOTS < notBefore) {
      readApart([...waiting], least);
      waiting = new Set();
    }
    for (const address of addresses) waiting.add(address);
    if (notBefore > least) least = notBefore;
    if (underWay === null) void run();
  };
}
