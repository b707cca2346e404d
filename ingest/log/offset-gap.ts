/**
 * A batch begins behind the offset that has to be applied next, as after a database was lost or restored while its
 * consumer group kept its place in the log: the records between would never be read.
 */
export class OffsetGapError extends Error {
  override name = 'OffsetGapError';
  /** The offset that is to be read next. */
  readonly next: bigint;

  constructor(place: string, next: bigint, given: bigint) {
    super(`${place}: the next batch begins at ${given}, but ${next} is the next offset to apply`);
    this.next = next;
  }
}
