import { INVALID_PARAMS, RpcError, VERSION_NOT_TAKEN } from './error.ts';
import type { RpcNode } from './node.ts';

export const NEWEST_VERSION = 1;

/**
 * Asks each node for the newest version of transactions that it is known to take, and learns from its refusals.
 * @returns a function that asks a node. Where the node does not take the version it throws an RpcError that sends the
 * question to another node.
 */
export function createVersions(): (
  node: RpcNode,
  askFor: (maxSupportedTransactionVersion: number) => Promise<unknown>,
) => Promise<unknown> {
  const versions = new Map<RpcNode, number>();
  return async (node, askFor) => {
    const version = versions.get(node) ?? NEWEST_VERSION;
    try {
      return await askFor(version);
    } catch (error) {
      const other = otherVersion(error, version);
      if (other === null) throw ofThisNode(error);
      const result = await askFor(other).catch((reason: unknown) => {
        throw ofThisNode(reason);
      });
      versions.set(node, other);
      return result;
    }
  };
}

/** Whether a node's release does not know the version that was asked for. */
export const isTooNew = ({ code, message }: RpcError): boolean =>
  code === INVALID_PARAMS && /version/i.test(message);

/** The version to ask for in place of one that was refused; null where the refusal is about something else. */
function otherVersion(error: unknown, version: number): number | null {
  if (!(error instanceof RpcError)) return null;
  if (isTooNew(error) && version > 0) return version - 1;
  return error.code === VERSION_NOT_TAKEN && version < NEWEST_VERSION ? NEWEST_VERSION : null;
}

/** That a node's release does not take a version says nothing of the transaction: another node is to be asked. */
function ofThisNode(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.kind !== 'refused') return error;
  if (error.code !== VERSION_NOT_TAKEN && !isTooNew(error)) return error;
  return new RpcError('refused', error.message, { code: error.code, retryOn: 'anotherNode', cause: error });
}
