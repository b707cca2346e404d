import type { StatusResponse } from '../../../../schemas/responses/status.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { bare } from '../parts/bare.ts';
import { Fig } from '../parts/figure.ts';
import { Text } from '../parts/text.ts';
import { type Resource, secondsBehind } from '../resource.ts';
import { grouped } from '../text/amounts.ts';
import { titleOf } from '../text/events.ts';
import { ago, lasting } from '../text/times.ts';
import { plainText } from '../text/visible.ts';

const COUNT = { kind: 'count' } as const;
const AGE = { kind: 'age' } as const;

/** The state of the indexer, the most important first. */
export function Indexer({ of, status }: { of: Resource<StatusResponse>; status: StatusResponse }) {
  const { indexer, keeper, attestor, venues } = status;
  const { history, stream } = indexer;
  const lag =
    indexer.lastProcessedBlockTime === null
      ? null
      : secondsBehind(of, indexer.lastProcessedBlockTime, now.value);
  return html`<div class="indexer">
    <dl class="figures">
      <div><dt>Behind the chain</dt><dd><${Fig} figure=${bare(lag, 'computed: the clock of the API against the block time of the newest slot applied', { asOf: indexer.lastProcessedBlockTime, reason: 'no slot is applied yet' })} reading=${AGE} name="Behind the chain" /></dd>
        <dd class="second">${indexer.lastProcessedSlot === null ? 'no slot applied yet' : `slot ${grouped(indexer.lastProcessedSlot)}`}</dd></div>
      <div><dt>History</dt><dd>${history.complete ? 'Complete' : stream.connected && history.reason === undefined ? 'Being read' : 'Incomplete'}</dd>
        <dd class="second">${history.fromSlot === null ? '' : `from slot ${grouped(history.fromSlot)}, over ${history.source === 'rpc' ? 'RPC' : 'the stream'}`}</dd></div>
      <div><dt>Incomplete transactions</dt><dd><${Fig} figure=${indexer.incompleteTransactions} reading=${COUNT} name="Incomplete transactions" /></dd>
        <dd class="second">of which not all is known</dd></div>
      <div><dt>Dead letters</dt><dd><${Fig} figure=${indexer.deadLetters} reading=${COUNT} name="Dead letters" /></dd>
        <dd class="second">kept, but not readable</dd></div>
    </dl>
    <div class="two-columns">
      <div>
        <h3>Sources</h3>
        <dl class="rows">
          <div><dt>Stream</dt><dd>${
            stream.connected
              ? html`connected <small>${stream.since === null ? '' : lasting(stream.since, now.value)}</small>`
              : html`<span class="tag warn">not connected</span> <small>${plainText(stream.reason ?? '')}</small>`
          }</dd></div>
          ${Object.entries(venues).map(
            ([name, venue]) =>
              html`<div key=${name}><dt>${name}</dt><dd>${
                'programId' in venue
                  ? venue.reachable === null
                    ? html`<span class="absent" title=${plainText(venue.reason ?? '')}>absent</span>`
                    : venue.reachable
                      ? 'program is there'
                      : html`<span class="tag warn">no program there</span>`
                  : html`<${Fig} figure=${venue} reading=${AGE} name=${`Age of the last reading of ${name}`} /> <small>${venue.absent ? '' : 'since the last reading'}</small>`
              }</dd></div>`,
          )}
          ${attestor.perVenue.map(
            (venue) => html`<div key=${venue.venue}><dt>Attestation of <${Text} text=${venue.venue} /></dt>
            <dd><${Fig} figure=${venue} reading=${AGE} name=${`Age of the newest attestation of ${plainText(venue.venue)}`} /> <small>${venue.absent ? '' : Number(venue.value) < 0 ? 'of this clock' : 'old'}</small></dd></div>`,
          )}
        </dl>
      </div>
      <div>
        <h3>Keeper, in 24 hours</h3>
        <dl class="rows">
          ${keeper.last24h.map(
            ({ kind, count, lastAt, countAbsentReason }) => html`<div key=${kind}><dt>${titleOf(kind)}</dt>
            <dd><${Fig} figure=${bare(count, 'indexer:events', { asOf: lastAt, reason: countAbsentReason })} reading=${COUNT} name=${`${titleOf(kind)}, in 24 hours`} /> <small>${lastAt === null ? '' : ago(lastAt, now.value)}</small></dd></div>`,
          )}
          <div><dt>Policies with fees to route</dt><dd><${Fig} figure=${keeper.unroutedFeeBacklogPolicyCount} reading=${COUNT} name="Policies with fees to route" /></dd></div>
        </dl>
      </div>
    </div>
  </div>`;
}
