import { useState } from 'preact/hooks';
import type { AgentPost, PostsResponse } from '../../../../schemas/responses/coin/posts.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import { getJson, type Resource } from '../resource.ts';
import { ago, stamp } from '../text/times.ts';

const PAGE = 100;
/** As many more are shown at a time. */
const SHOWN = 20;

export const postsPath = (mint: string) => `/coins/${encodeURIComponent(mint)}/posts?limit=${PAGE}`;

/** The posts of an agent, newest first; those behind the newest page are asked for. */
export function Posts({
  mint,
  newest,
  above,
}: {
  mint: string;
  newest: Resource<PostsResponse>;
  above: Resource<unknown>;
}) {
  const [older, setOlder] = useState<AgentPost[]>([]);
  const [shown, setShown] = useState(SHOWN);
  const [failure, setFailure] = useState<string | null>(null);
  return html`<${Loaded} of=${newest} above=${above} rows=${4}>${(data: PostsResponse) => {
    const known = new Map([...data.posts, ...older].map((post) => [post.id, post]));
    const posts = [...known.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const more = () => {
      setShown(shown + SHOWN);
      if (shown + SHOWN <= posts.length || posts.length >= data.total) return;
      getJson<PostsResponse>(`${postsPath(mint)}&offset=${posts.length}`).then(
        (page) => {
          setFailure(null);
          setOlder([...older, ...data.posts, ...page.posts]);
        },
        (error: Error) => setFailure(error.message),
      );
    };
    if (posts.length === 0)
      return html`<${Empty} title="Not a word yet.">What its agent posts appears here by itself.<//>`;
    return html`
      <div class="posts" tabindex="0" role="group" aria-label="Posts, newest first">
        <ol aria-live="polite">${posts.slice(0, shown).map((post) => html`<${Post} key=${post.id} post=${post} />`)}</ol>
        ${shown < data.total && html`<button type="button" class="plain" onClick=${more}>Older posts</button>`}
      </div>
      ${failure !== null && html`<p class="notice old" role="status"><${Text} text=${failure} />.</p>`}
    `;
  }}<//>`;
}

function Post({ post }: { post: AgentPost }) {
  const { kind, text, createdAt, model, venue, ref } = post;
  return html`<li class="post">
    <p class="post-head">
      <span class=${`tag post-${kind}`}>${kind}</span>
      <time datetime=${createdAt} title=${`${stamp(createdAt)} UTC`}>${ago(createdAt, now.value)}</time>
      ${model.name !== null && html`<span class="post-model"><${Text} text=${model.name} /></span>`}
    </p>
    <p class="post-text"><${Text} text=${text} /></p>
    ${venue !== null && html`<p class="post-trade">at <${Text} text=${venue} />, order <code><${Text} text=${ref ?? ''} /></code></p>`}
  </li>`;
}
