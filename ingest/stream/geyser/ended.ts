import { status } from '@grpc/grpc-js';

/** Why a stream ended. `code` is the gRPC status, null for an error that has none. */
export class StreamEndedError extends Error {
  override name = 'StreamEndedError';
  readonly code: number | null;

  constructor(code: number | null, message: string) {
    super(messageFor(code, message));
    this.code = code;
  }

  /** Ended from this side. */
  get cancelled(): boolean {
    return this.code === status.CANCELLED;
  }
}

const WORDS: Partial<Record<number, string>> = {
  [status.OK]: 'the provider ended the stream',
  [status.ABORTED]: 'the provider ended the stream',
  [status.UNAUTHENTICATED]: 'the provider refuses YELLOWSTONE_X_TOKEN',
  [status.PERMISSION_DENIED]: 'the provider refuses YELLOWSTONE_X_TOKEN',
  [status.UNAVAILABLE]: 'the provider is not reachable',
  [status.DEADLINE_EXCEEDED]: 'the provider does not answer in time',
  [status.INVALID_ARGUMENT]: 'the provider refuses the request',
  [status.RESOURCE_EXHAUSTED]: "the provider's limit is reached",
  [status.OUT_OF_RANGE]: 'the replay does not reach back',
  [status.DATA_LOSS]: 'the replay does not reach back',
};

/** Whether no connection came about because of the certificate: it is of another host, not trusted, or expired. */
export const isCertificateProblem = ({ code, message }: StreamEndedError): boolean =>
  code === status.UNAVAILABLE && /certificate|altname/i.test(message);

/** What is wrong with the certificate, recognised by the words that the libraries use. */
export const isCertificateOfOtherHost = ({ message }: StreamEndedError): boolean => /altname/i.test(message);
export const isCertificateExpired = ({ message }: StreamEndedError): boolean => /has expired/i.test(message);

function certificateWords(ended: StreamEndedError): string {
  if (isCertificateOfOtherHost(ended)) return "the provider's certificate is of another host";
  return isCertificateExpired(ended)
    ? "the provider's certificate has expired"
    : "the provider's certificate is not valid";
}

/** Why a stream ended, in words without anything of the provider's own message, so that they may be served. */
export function endWords(ended: StreamEndedError): string {
  if (ended.cancelled) return ended.message;
  if (isCertificateProblem(ended)) return certificateWords(ended);
  const words = WORDS[ended.code ?? -1] ?? 'the provider failed';
  const isRefusal = ended.code === status.INTERNAL || ended.code === status.INVALID_ARGUMENT;
  return isRefusal && OF_REPLAY.test(ended.message) ? 'the provider refuses the replay from there' : words;
}

function messageFor(code: number | null, message: string): string {
  if (code === status.UNAUTHENTICATED || code === status.PERMISSION_DENIED)
    return `the provider refuses YELLOWSTONE_X_TOKEN: ${message}`;
  return message === '' ? 'the server ended the stream' : message;
}

/** Statuses that are about the connection or the token, not the request: asking for something else does not help. */
const NOT_THE_REQUEST: ReadonlySet<number | null> = new Set([
  status.UNAVAILABLE,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.DEADLINE_EXCEEDED,
]);

/** Whether a stream that brought nothing may have ended because of what its request asked for. */
export const mayBeCausedByRequest = (ended: StreamEndedError): boolean => !NOT_THE_REQUEST.has(ended.code);

/** A server says this also when it has merely not come to the requested slot yet. */
const FAILED = 'failed to get replay response';
const OF_REPLAY = /from_slot|replay|broadcast from|too old|oldest/i;

/**
 * What the end of a stream that asked for a replay, and brought nothing, says of the replay: it cannot reach back
 * (`gone`), it may not (`perhaps`), or nothing (`other`).
 */
export function replayEnd(ended: StreamEndedError): 'gone' | 'perhaps' | 'other' {
  const { code, message } = ended;
  if (code === status.OUT_OF_RANGE || code === status.DATA_LOSS) return 'gone';
  if (!mayBeCausedByRequest(ended)) return 'other';
  if (OF_REPLAY.test(message) && !message.includes(FAILED)) return 'gone';
  // A limit on connections, or on traffic: asking for less of the past does not help.
  return code === status.RESOURCE_EXHAUSTED ? 'other' : 'perhaps';
}

const NAMED_CAP = /only (\d{1,9}) allowed|(?:limit|max(?:imum)?|up to)\D{0,40}(\d{1,9})/i;

/** How many addresses a provider takes, where its refusal of a filter names the cap; null where it does not. */
export function namedCap({ message }: StreamEndedError): number | null {
  const match = NAMED_CAP.exec(message);
  return match === null ? null : Number(match[1] ?? match[2]);
}

const OF_STREAMS =
  /stream|connection|session|subscription|concurren|quota|credit|bandwidth|throttl|\brates?\b|per (?:second|minute|day)/i;
const OF_FILTERS = /address|pubkey|filter/i;

/** Whether a limit is reached that fewer addresses would not avoid: on streams, or on traffic in some time. */
export const limitsStreams = ({ code, message }: StreamEndedError): boolean =>
  code === status.RESOURCE_EXHAUSTED && OF_STREAMS.test(message) && !OF_FILTERS.test(message);

/** Whether the status code refuses what the request asked for. */
export const refusesFilter = (ended: StreamEndedError): boolean =>
  !limitsStreams(ended) &&
  (ended.code === status.INVALID_ARGUMENT ||
    ended.code === status.RESOURCE_EXHAUSTED ||
    ended.code === status.FAILED_PRECONDITION);
