/** The bytes that wait for clients of the streams. */
export interface WaitingBytes {
  add(bytes: Buffer): void;
  take(bytes: Buffer): void;
  /** How much memory they take. */
  all(): number;
}

/** Bytes of a place in the queue of a client. */
const EACH_BYTES = 16;

/** A buffer that waits for several clients is counted once. */
export function createWaitingBytes(): WaitingBytes {
  const waits = new Map<Buffer, number>();
  let all = 0;
  return {
    add: (bytes) => {
      const before = waits.get(bytes) ?? 0;
      waits.set(bytes, before + 1);
      all += EACH_BYTES + (before === 0 ? bytes.length : 0);
    },
    take: (bytes) => {
      const left = (waits.get(bytes) ?? 1) - 1;
      if (left > 0) waits.set(bytes, left);
      else waits.delete(bytes);
      all -= EACH_BYTES + (left === 0 ? bytes.length : 0);
    },
    all: () => all,
  };
}
