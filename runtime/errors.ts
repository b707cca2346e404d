/** The configuration is wrong: the process ends with this sentence and trying again does not help. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Something outside did not answer as it should: trying again later may help. */
export class RetryableError extends Error {
  override name = 'RetryableError';
}

/** Too many requests wait already, or one waited too long: nothing was done, and the client should ask again soon. */
export class BusyError extends Error {
  override name = 'BusyError';
}

/** The message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
