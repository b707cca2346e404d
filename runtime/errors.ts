/** The configuration is wrong: the process ends with this sentence and trying again does not help. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Something outside did not answer as it should: trying again later may help. */
export class RetryableError extends Error {
  override name = 'RetryableError';
}

/**
 * An answer that is none: half of one, or the page of something in between. What was asked for may have been done or
 * not.
 */
export class BrokenAnswerError extends Error {
  override name = 'BrokenAnswerError';
}

/** Too many requests wait already, or one waited too long: nothing was done, and the client should ask again soon. */
export class BusyError extends Error {
  override name = 'BusyError';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
