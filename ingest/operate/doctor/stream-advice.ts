import { status } from '@grpc/grpc-js';
import type { StreamEndedError } from '../../stream/geyser/ended.ts';

export const ON_LIMIT = 'end other streams of this token, or take a larger plan';

const ADVICE: Partial<Record<number, string>> = {
  [status.CANCELLED]:
    'it takes the request and sends pings at most: its node stands still; ask the provider, or name another endpoint',
  [status.UNAVAILABLE]: 'is host:port right, and https:// where it wants TLS?',
  [status.DEADLINE_EXCEEDED]: 'is host:port right, and https:// where it wants TLS?',
  [status.UNAUTHENTICATED]: "set YELLOWSTONE_X_TOKEN to the provider's token",
  [status.PERMISSION_DENIED]: "set YELLOWSTONE_X_TOKEN to the provider's token",
  [status.UNIMPLEMENTED]: 'no Yellowstone gRPC server is there',
  [status.RESOURCE_EXHAUSTED]: ON_LIMIT,
  [status.INVALID_ARGUMENT]:
    'have a filter of accounts by owner, of transactions, of slots and of block metas allowed, one each',
};

/** A provider that cuts off who reads too slowly says so in words of its own. */
export const saysLagging = ({ message }: StreamEndedError): boolean => /\blag/i.test(message);

export const ON_LAGGING =
  'it cuts off who reads too slowly: run nearer to it, or take a plan with more bandwidth';

/** Why no stream came about, and what to do. */
export function noStream(ended: StreamEndedError): string {
  const advice = saysLagging(ended) ? ON_LAGGING : ADVICE[ended.code ?? -1];
  return advice === undefined ? ended.message : `${ended.message}: ${advice}`;
}
