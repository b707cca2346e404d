import type { Figure } from '../../../../schemas/figure.ts';
import type { CoinResponse, VenueAccount } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import type { Position, PositionsResponse } from '../../../../schemas/responses/coin/positions.ts';
import { type Children, html } from '../html.ts';
import { Against } from '../parts/against.ts';
import { Asked } from '../parts/asked.ts';
import { Fig } from '../parts/figure.ts';
import { Key } from '../parts/key.ts';
import { Empty, IfOld, Loaded } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import type { Resource } from '../resource.ts';
import { span } from '../text/times.ts';
import { plainText } from '../text/visible.ts';
import { capital, classNames, readable } from '../text/words.ts';
import { inUnit, unitOf } from './units.ts';

interface VenuesProps {
  coin: CoinResponse;
  loop: Resource<LoopResponse>;
  positions: Resource<PositionsResponse>;
  /** A resource that is shown further up, and says so itself where both are old for the same reason. */
  above: Resource<unknown>;
}

export function Venues({ coin, loop, positions, above }: VenuesProps) {
  if (coin.venueAccounts.length === 0)
    return html`<${Loaded} of=${loop} above=${loop} rows=${2}>${(steps: LoopResponse) => html`<${None} held=${steps.step4_deployed} />`}<//>`;
  const byAccount = new Map(positions.data?.positions.map((position) => [position.venueAccount, position]));
  const standing = coin.venueAccounts.toSorted((a, b) => Number(a.revoked) - Number(b.revoked));
  return html`<${IfOld} of=${positions} above=${above} />
  <ul class="venues">
    ${standing.map(
      (account) => html`<${Venue} key=${account.tokenAccount} coin=${coin} account=${account}
      position=${byAccount.get(account.tokenAccount)} failed=${positions.state === 'failed' ? positions.failure : null} path=${positions.path} />`,
    )}
  </ul>`;
}

/**
 * An empty list need not mean no accounts: the policy counts them, and the sums are absent where some are not known.
 */
function None({ held }: { held: LoopResponse['step4_deployed'] }) {
  const unknown = [held.local, held.remote].find(({ absent }) => absent === true);
  return unknown === undefined
    ? html`<${Empty} title="No venue account yet.">The authority registers them; until then the bankroll stays in its vault.<//>`
    : html`<${Empty} title="No venue account is known yet."><${Text} text=${capital(readable(unknown.reason ?? ''))} />.<//>`;
}

interface VenueProps {
  coin: CoinResponse;
  account: VenueAccount;
  position: Position | undefined;
  failed: string | null;
  path: string | null;
}

const notRead = (reason: string): Figure => ({
  ...{ value: null, source: 'the API', asOf: null, absent: true, reason },
});

function Venue({ coin, account, position, failed, path }: VenueProps) {
  const reading = inUnit(unitOf(coin, account.assetMint));
  const title = `${classNames(account.assetClass).join(', ')}${account.kind === 'Remote' ? `, at ${plainText(position?.venue ?? 'a venue')}` : ', on chain'}`;
  return html`<li class=${account.revoked ? 'venue revoked' : 'venue'}>
    <div class="venue-head">
      <h3>${title}</h3>
      <${Key} value=${account.tokenAccount} name="Token account" />
      ${account.revoked && html`<span class="tag">Revoked</span>`}
      ${position?.onChainAttestation.stale === true && html`<span class="tag warn">Attestation is stale</span>`}
    </div>
    ${
      account.kind === 'Local'
        ? html`<dl class="pairs"><${Pair} name="Balance"><${Fig} figure=${account.local} reading=${reading} name="Balance" /><//></dl>`
        : html`<${Against} bridgedOut=${account.bridgedOut} attested=${account.remote} />
          <dl class="pairs">
            <${Pair} name="Sent there" purse="bridged"><${Fig} figure=${account.bridgedOut} reading=${reading} name="Bridged out" /><//>
            <${Pair} name="Attested there" purse="remote"><${Fig} figure=${account.remote} reading=${reading} name="Attested equity" /><//>
            <${Asked.Provider} value=${path}>
              ${failed !== null && html`<${Pair} name="Venue says"><${Fig} figure=${notRead(failed)} reading=${reading} name="Equity, as the venue says" /><//>`}
              ${position !== undefined && html`<${Live} position=${position} reading=${reading} />`}
            <//>
          </dl>`
    }
  </li>`;
}

function Live({ position, reading }: { position: Position; reading: object }) {
  const { livePollerReading: live, onChainAttestation } = position;
  const age = onChainAttestation.ageSeconds;
  return html`
    ${
      'reachable' in live
        ? html`<${Pair} name="Venue says"><${Fig} figure=${live.equity} reading=${reading} name="Equity, as the venue says" /><//>
          <${Pair} name="Notional"><${Fig} figure=${live.notional} reading=${reading} name="Notional, as the venue says" /><//>
          ${live.error !== null && html`<${Pair} name="Last answer"><${Text} text=${live.error} /><//>`}`
        : html`<${Pair} name="Venue says"><${Fig} figure=${live} reading=${reading} name="Equity, as the venue says" /><//>`
    }
    ${age !== null && html`<${Pair} name="Attestation">${age < 0 ? `${span(-age)} ahead` : `${span(age)} old`}<//>`}
  `;
}

function Pair({ name, purse, children }: { name: string; purse?: string; children: Children }) {
  return html`<div><dt>${purse !== undefined && html`<i class=${`purse ${purse}`} aria-hidden="true"></i>`}${name}</dt><dd>${children}</dd></div>`;
}
