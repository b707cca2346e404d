import { status } from '@grpc/grpc-js';
import { type StreamEndedError, saysUntrusted } from '../../stream/geyser/ended.ts';

export const ON_LIMIT = 'end other streams of this token, or take a larger plan';

const ENDS = 'it takes the request and ends it; ask the provider';

const ADVICE: Partial<Record<number, string>> = {
  [status.OK]: ENDS,
  [status.ABORTED]: ENDS,
  [status.CANCELLED]:
    'it takes the request and sends pings at most: its node stands still; ask the provider, or name another endpoint',
  [status.UNAVAILABLE]: 'is host:port right, and https:// where it wants TLS?',
  [status.DEADLINE_EXCEEDED]: 'is host:port right, and https:// where it wants TLS?',
  [status.UNAUTHENTICATED]: "set YELLOWSTONE_X_TOKEN to the provider's token",
  [status.PERMISSION_DENIED]: "set YELLOWSTONE_X_TOKEN to the provider's token",
  [status.UNIMPLEMENTED]: 'no Yellowstone gRPC server is there',
  [status.RESOURCE_EXHAUSTED]: ON_LIMIT,
  [status.INTERNAL]:
    'something answers there that is no Yellowstone gRPC server, or a broken one; ask the provider',
  [status.INVALID_ARGUMENT]:
    'have a filter of accounts by owner, of transactions, of slots and of block metas allowed, one each',
};

/** A provider that cuts off who reads too slowly says so in words of its own. */
export const saysLagging = ({ message }: StreamEndedError): boolean => /\blag/i.test(message);

export const ON_LAGGING =
  'it cuts off who reads too slowly: run nearer to it, or take a plan with more bandwidth';

/** Of what ended it: what to do stands behind that in the same line. */
const MOST_WORDS = 120;

const ON_UNTRUSTED =
  'name the host that its certificate is for, and have NODE_EXTRA_CA_CERTS name who signed it where that is your own';

const ON_EXPIRED = 'have the provider renew it, or name another endpoint';
/** The transport puts this behind its words, mostly with nothing after it. */
const RESOLUTION = /\s*Resolution note:\s*$/;

const onCertificate = ({ message }: StreamEndedError): string =>
  /has expired/i.test(message) ? ON_EXPIRED : ON_UNTRUSTED;

/** Why no stream came about, and what to do. */
export function noStream(ended: StreamEndedError): string {
  const advice = saysLagging(ended)
    ? ON_LAGGING
    : saysUntrusted(ended)
      ? onCertificate(ended)
      : ADVICE[ended.code ?? -1];
  const words = ended.message.replace(RESOLUTION, '');
  return advice === undefined ? words : `${words.slice(0, MOST_WORDS)}: ${advice}`;
}
