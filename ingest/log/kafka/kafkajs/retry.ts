/** How often, and how far apart, a request is tried again. */
export const RETRY = { initialRetryTime: 100, maxRetryTime: 2_000, retries: 8 };
