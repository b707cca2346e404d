import type { StatusResponse } from '../../../../schemas/responses/status.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { type Resource, secondsBehind, useResource } from '../resource.ts';
import { span } from '../text/times.ts';

const EVERY_MS = 10_000;
/** A slot comes every fraction of a second: this far behind is worth saying. */
const BEHIND_S = 30;

/** The state of the index, at the top of every page. */
export function Status() {
  const status = useResource<StatusResponse>('/status', EVERY_MS);
  const [tone, text] = told(status);
  return html`<a class=${`status ${tone}`} href="/explorer/protocol" title="How the index stands">
    <i aria-hidden="true"></i><span role="status">${text}</span>
  </a>`;
}

function told(status: Resource<StatusResponse>): [tone: string, text: string] {
  const { state, data } = status;
  if (data === null) return state === 'failed' ? ['bad', 'Not answering'] : ['quiet', 'Asking …'];
  if (state === 'old') return ['bad', 'Not answering'];
  const { lastProcessedBlockTime, history, stream } = data.indexer;
  if (lastProcessedBlockTime === null) return ['warn', 'Nothing indexed yet'];
  const behind = secondsBehind(status, lastProcessedBlockTime, now.value);
  if (behind > BEHIND_S) return ['warn', `${span(behind)} behind`];
  if (!stream.connected) return ['warn', 'No stream'];
  return history.complete ? ['good', 'Up to date'] : ['warn', 'Reading history'];
}
