/**
 * Whether the same question may be answered if it is asked again: `now` by the same node or another, `elsewhere` by
 * another one, `no` by none.
 */
export type Again = 'now' | 'elsewhere' | 'no';

/** `unreachable`: no or no sound answer. `behind`: the node has not reached minContextSlot. `refused`: its own error. */
export class RpcError extends Error {
  override name = 'RpcError';
  readonly kind: 'unreachable' | 'behind' | 'refused';
  readonly code: number | null;
  readonly again: Again;

  constructor(
    kind: RpcError['kind'],
    message: string,
    { code = null, again, cause }: { code?: number | null; again?: Again; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.code = code;
    this.again = again ?? (kind === 'behind' ? 'now' : kind === 'refused' ? 'no' : 'elsewhere');
  }
}
