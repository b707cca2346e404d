/** Texts, one behind the other, as bytes that are sent once. */
export interface PooledBytes {
  bytes: Buffer;
  /** To be called once nobody reads the bytes any more: the next are written there. Without it they are nobody else's. */
  giveBack?: () => void;
}

/** A page of 100 rows is 200 kB. */
const EACH_BYTES = 256 * 1024;
/** Of those that nobody uses. */
const MOST_IDLE = 64;
/** Where less is left of the room, the last character may not have found any. */
const LAST_CHARACTER = 4;

/**
 * Writes into bytes that are used again and again. Of bytes made for each page a second is as much memory as has all that
 * is in memory looked through for garbage.
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

/** Where they end; null where there was no room for all of them. */
function writeAll(room: Buffer, texts: readonly string[]): number | null {
  let end = 0;
  for (const text of texts) {
    if (end + text.length > room.length) return null;
    end += room.write(text, end);
  }
  return room.length - end < LAST_CHARACTER ? null : end;
}

/**
 * Small bytes are a piece of 64 kB, which they share with whatever comes and goes or, of what zlib makes, have to themselves:
 * who keeps them would keep all of it.
 */
export function ownBytes(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
