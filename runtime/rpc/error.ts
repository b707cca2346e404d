/**
 * Which nodes may answer the same question if it is asked again: `anyNode` the same one included, `anotherNode` any
 * other one, `anotherHealthy` another one that neither rests nor wants to be left alone, `none` none.
 */
export type RetryOn = 'anyNode' | 'anotherNode' | 'anotherHealthy' | 'none';

export const INVALID_PARAMS = -32602;
/** A node's error code for a transaction of a version above the one that was asked for. */
export const VERSION_NOT_TAKEN = -32015;
const OF_AMOUNT = /too many|too large|limit|max|at most|exceed|more than|up to/i;

/** Whether a node may answer where it is asked for fewer at a time. */
export const asksForLess = (error: unknown): boolean =>
  error instanceof RpcError && error.kind === 'refused' && OF_AMOUNT.test(error.message);

/** `unreachable`: no or no sound answer. `behind`: below minContextSlot. `refused`: an error of the node's own. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly kind: 'unreachable' | 'behind' | 'refused';
  readonly code: number | null;
  readonly retryOn: RetryOn;

  constructor(
    kind: RpcError['kind'],
    message: string,
    { code = null, retryOn, cause }: { code?: number | null; retryOn?: RetryOn; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.code = code;
    this.retryOn = retryOn ?? (kind === 'behind' ? 'anyNode' : kind === 'refused' ? 'none' : 'anotherNode');
  }
}

/** The node does not keep history that far back; another may. */
export class NotKeptError extends RpcError {
  override name = 'NotKeptError';
  readonly firstSlot: bigint;

  constructor(firstSlot: bigint) {
    super('refused', `its first block is ${firstSlot}`, { retryOn: 'anotherNode' });
    this.firstSlot = firstSlot;
  }
}
