type Ask = (addresses: readonly string[], notBefore: bigint) => void;

/**
 * A request for a slot so far before that of another does not wait for the other: the chain may never come to the later
 * slot.
 */
const FAR_SLOTS = 1_000n;

/**
 * Reads many addresses, one such reading at a time: requests that come meanwhile are joined into one more reading
 * behind it, of all their addresses, at the newest of their slots. A caller that asks more often than a reading takes
 * has no more readings under way than one that asks once.
 */
export function createJoinedReading(
  read: (addresses: readonly string[], notBefore: bigint) => Promise<unknown>,
): Ask {
  let waiting = new Set<string>();
  /** The newest slot at which those are asked for. */
  let least = 0n;
  /** The slot of the reading that is under way; null: none is. */
  let underWay: bigint | null = null;
  /** A queue of its own for requests that must not wait for a slot far after theirs. */
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
