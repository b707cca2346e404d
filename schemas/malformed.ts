/** Bytes from outside that do not have the shape they claim: what was read, and what is wrong with it. */
export class MalformedError extends Error {
  readonly what: string;
  readonly reason: string;

  constructor(what: string, reason: string) {
    super(`${what}: ${reason}`);
    this.name = 'MalformedError';
    this.what = what;
    this.reason = reason;
  }
}
