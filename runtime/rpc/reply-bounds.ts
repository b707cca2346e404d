import { ReplyTooLargeError } from '../outside/fetch.ts';
import { RpcError } from './error.ts';
import type { Rpc } from './port.ts';

const MB = 1024 * 1024;
/** Some providers take fewer signatures at a time than the protocol has. */
export const FEWEST_LISTED = 10;
/**
 * What a sound reply stays below: an account holds up to 10 MB, a third more in base64. A page of signatures may be
 * over it where strangers write memos into their transactions, up to 25 kB of JSON each; a smaller page is not.
 */
export const MAX_BYTES: Record<keyof Rpc, number> = {
  getAccountInfo: 16 * MB,
  getMultipleAccounts: 128 * MB,
  getProgramAccounts: 512 * MB,
  getSignaturesForAddress: 4 * MB,
  getTransaction: 16 * MB,
  getSlot: 16 * 1024,
  getBlockTime: 16 * 1024,
  getFirstAvailableBlock: 16 * 1024,
};

export const isTooLarge = (error: unknown): error is RpcError =>
  error instanceof RpcError && error.cause instanceof ReplyTooLargeError;

/** Strangers decide how large a page is, on every node alike: asks for fewer signatures, down to FEWEST_LISTED. */
export const askForSmallerPage =
  (limit: number) =>
  (error: unknown): never => {
    if (!isTooLarge(error) || limit <= FEWEST_LISTED) throw error;
    throw new RpcError('refused', `${error.message}, too large`, { retryOn: 'none', cause: error.cause });
  };
