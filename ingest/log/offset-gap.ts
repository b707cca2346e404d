/**
 * A batch that does not follow on what its reader has applied, as where a database was lost or restored while its
 * group's place in the log was kept: what is between would never be read.
 */
export class OffsetGapError extends Error {
  override name = 'OffsetGapError';
  /** The offset that is to be read next. */
  readonly next: bigint;

  constructor(place: string, next: bigint, given: bigint) {
    super(`${place} goes on at ${given}, and only what is before ${next} is applied`);
    this.next = next;
  }
}
