/** Texts, one behind the other, as bytes that are sent once. */
export interface PooledBytes {
  bytes: Buffer;
  /** To be called once nobody reads the bytes any more: their room is then reused. Absent where they are not pooled. */
  giveBack?: () => void;
}

/** A page of 100 rows is 200 kB. */
const EACH_BYTES = 256 * 1024;
/** How many buffers are kept that are not in use. */
const MOST_IDLE = 64;
/** Where fewer bytes are left in a buffer, the last character may not have fitted. */
const LAST_CHARACTER = 4;

/**
 * Writes into buffers that are used again and again. New ones for each page add up, within a second, to as much memory
 * as brings about a full garbage collection.
 */
export function createPooledWriter(mostIdle = MOST_IDLE): (texts: readonly string[]) => PooledBytes {
  const idle: Buffer[] = [];
  return (texts) => {
    const room = idle.pop() ?? Buffer.allocUnsafeSlow(EACH_BYTES);
    let isLent = true;
    const giveBack = () => {
      if (isLent && idle.length < mostIdle) idle.push(room);
      isLent = false;
    };
    const end = writeAll(room, texts);
    if (end !== null) return { bytes: room.subarray(0, end), giveBack };
    giveBack();
    return { bytes: Buffer.from(texts.join('')) };
  };
}

/** Where the texts end in the buffer; null where there was no room for all of them. */
function writeAll(room: Buffer, texts: readonly string[]): number | null {
  let end = 0;
  for (const text of texts) {
    if (end + text.length > room.length) return null;
    end += room.write(text, end);
  }
  return room.length - end < LAST_CHARACTER ? null : end;
}
