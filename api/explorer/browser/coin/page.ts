import { useEffect } from 'preact/hooks';
import type { CoinResponse } from '../../../../schemas/responses/coin/coin.ts';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import type { PositionsResponse } from '../../../../schemas/responses/coin/positions.ts';
import type { PostsResponse } from '../../../../schemas/responses/coin/posts.ts';
import { html } from '../html.ts';
import { Section } from '../parts/section.ts';
import { Loaded } from '../parts/states.ts';
import { type Resource, useResource } from '../resource.ts';
import { plainText } from '../text/visible.ts';
import { shortKey } from '../text/words.ts';
import { Activity } from './activity.ts';
import { Balances } from './balances.ts';
import { Equity } from './equity.ts';
import { Head } from './head.ts';
import { useLive } from './live.ts';
import { Loop } from './loop.ts';
import { Posts, postsPath } from './posts.ts';
import { Terms } from './terms.ts';
import { Venues } from './venues.ts';

/** The stream announces events; what changes without one, such as a price that grows too old, is polled. */
const EVERY_MS = 15_000;

export function CoinPage({ mint }: { mint: string }) {
  const base = `/coins/${encodeURIComponent(mint)}`;
  const coin = useResource<CoinResponse>(base, EVERY_MS);
  // Both are asked for at once: with them a page is of use, whatever else is still on its way.
  const loop = useResource<LoopResponse>(`${base}/loop`, EVERY_MS);
  const positions = useResource<PositionsResponse>(coin.data === null ? null : `${base}/positions`, EVERY_MS);
  const posts = useResource<PostsResponse>(coin.data?.mode === 'Agent' ? postsPath(mint) : null);
  const live = useLive(coin.data === null ? null : mint, () => {
    coin.again();
    loop.again();
    positions.again();
  });
  // The stream announced new posts: read them.
  useEffect(() => {
    if (live.posts > 0) posts.again();
  }, [live.posts]);
  useTitle(coin.data, mint);
  if (coin.status === 404)
    return html`<div class="page-head">
      <h1>No policy here</h1>
      <p class="lead">None is indexed for ${shortKey(mint)}: a token without a policy, or no mint at all. <a href="/explorer/">All policies</a></p>
    </div>`;
  if (coin.data === null)
    return html`<div class="page-head"><h1>Policy ${shortKey(mint)}</h1></div><${Loaded} of=${coin} rows=${14} />`;
  return html`<${Loaded} of=${coin} rows=${14}>${(data: CoinResponse) => html`
    <${Head} coin=${data} loop=${loop} />
    <${Section} title="Money loop" note="What the fees of this token did, from the first claim to the last burn.">
      <${Loaded} of=${loop} above=${coin} rows=${5}>${(steps: LoopResponse) => html`<${Loop} coin=${data} loop=${steps} />`}<//>
    <//>
    <${Section} title="Equity" note=${data.mode === 'Agent' ? 'What it has and where, over time; a pin stands where its agent posted.' : 'What it has and where, over time.'}>
      <${Equity} coin=${data} loop=${loop} posts=${posts.data?.posts ?? []} />
    <//>
    <div class=${data.mode === 'Agent' ? 'two-columns' : ''}>
      ${
        data.mode === 'Agent' &&
        html`<${Section} title="Agent posts" note="Why, in the agent’s words, written before the outcome was known.">
          <${Posts} mint=${mint} newest=${posts} above=${coin} />
        <//>`
      }
      <${Section} title="Activity" note=${live.open ? 'Events on chain, newest first; it grows as they happen.' : 'Events on chain, newest first.'}>
        <${Activity} coin=${data} fresh=${live.events} above=${coin} />
      <//>
    </div>
    <${Section} title="Venue accounts" note="Where the bankroll is at work. What is held remotely is attested: the program cannot see it.">
      <${Venues} coin=${data} loop=${loop} positions=${positions as Resource<PositionsResponse>} above=${coin} />
    <//>
    <div class="two-columns">
      <${Section} title="Balances"><${Balances} coin=${data} /><//>
      <${Section} title="Terms"><${Terms} coin=${data} /><//>
    </div>
  `}<//>`;
}

function useTitle(coin: CoinResponse | null, mint: string): void {
  const name = coin?.symbol ?? coin?.name ?? null;
  useEffect(() => {
    document.title = `${name === null ? shortKey(mint) : plainText(name)} · bankroll explorer`;
  }, [name, mint]);
}
