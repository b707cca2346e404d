import type { StatusResponse } from '../../schemas/responses/status.ts';
import { STREAM_EXPIRES_MS } from '../../schemas/stream-state.ts';
import { isoMillis } from '../../schemas/units.ts';
import type { View } from '../latest/view.ts';

type Indexer = StatusResponse['indexer'];

/** The state of the stream: what ingestion reported last, as long as it keeps reporting. */
export function streamPart(view: View): Pick<Indexer, 'stream' | 'followed'> {
  const told = view.single('stream');
  if (told === null) {
    const reason = 'no ingestion has told of its stream yet';
    return {
      stream: { connected: false, since: null, reason },
      followed: { addresses: null, overRpc: null },
    };
  }
  // Ingestion reports its stream from its start on, and knows no followed addresses before it has asked for them once.
  const isKnown = told.connected === 1 || told.addresses > 0;
  const followed = isKnown
    ? { addresses: told.addresses, overRpc: told.over_rpc }
    : { addresses: null, overRpc: null };
  const expiresAt = told.loaded_at + STREAM_EXPIRES_MS - Number(told.age_ms);
  if (view.now >= expiresAt) {
    const since = isoMillis(Number(told.read_at));
    return {
      stream: { connected: false, since, reason: 'nothing that ingestion told since then is applied' },
      followed,
    };
  }
  view.expireAt(expiresAt);
  const since = isoMillis(Number(told.since));
  return { stream: { connected: told.connected === 1, since, reason: told.reason }, followed };
}
