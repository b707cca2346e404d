import { status } from '@grpc/grpc-js';
import {
  isCertificateExpired,
  isCertificateOfOtherHost,
  isCertificateProblem,
  type StreamEndedError,
} from '../../stream/geyser/ended.ts';

export const LIMIT_ADVICE = 'end other streams of this token, or take a larger plan';

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
  [status.RESOURCE_EXHAUSTED]: LIMIT_ADVICE,
  [status.INTERNAL]:
    'something answers there that is no Yellowstone gRPC server, or a broken one; ask the provider',
  [status.INVALID_ARGUMENT]:
    'have a filter of accounts by owner, of transactions, of slots and of block metas allowed, one each',
};

/** Whether the provider ended the stream for being read too slowly, which each says in words of its own. */
export const saysLagging = ({ message }: StreamEndedError): boolean => /\blag/i.test(message);

export const LAGGING_ADVICE =
  'it cuts off who reads too slowly: run nearer to it, or take a plan with more bandwidth';

/** Characters shown of the error that ended the stream: what to do stands behind them in the same line. */
const MOST_WORDS = 120;

const ON_ANOTHER = 'name the host that its certificate is for';
const ON_EXPIRED = 'have the provider renew it, or name another endpoint';
/** gRPC reads the trusted signers from a file of its own where one is named, and then from nowhere else. */
const onUntrusted = (): string =>
  process.env.GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
    ? 'the file that GRPC_DEFAULT_SSL_ROOTS_FILE_PATH names has to hold who signed it, for nobody else is trusted while that is set'
    : 'have NODE_EXTRA_CA_CERTS name who signed it where that is your own';
/** What is cut off the end of an error: the transport's note, which is mostly empty, and advice that ours replaces. */
const BEHIND = /\s*Resolution note:\s*$|; if the root CA is installed locally.*$/;

function onCertificate(ended: StreamEndedError): string {
  if (isCertificateOfOtherHost(ended)) return ON_ANOTHER;
  return isCertificateExpired(ended) ? ON_EXPIRED : onUntrusted();
}

/** Why no stream came about, and what to do. */
export function noStream(ended: StreamEndedError): string {
  const advice = saysLagging(ended)
    ? LAGGING_ADVICE
    : isCertificateProblem(ended)
      ? onCertificate(ended)
      : ADVICE[ended.code ?? -1];
  const words = ended.message.replace(BEHIND, '');
  return advice === undefined ? words : `${words.slice(0, MOST_WORDS)}: ${advice}`;
}
