import { useEffect, useState } from 'preact/hooks';
import type { AgentPost, PostsResponse } from '../../../../schemas/responses/posts.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import { getJson, useResource } from '../resource.ts';
import { ago, stamp } from '../text/times.ts';

const PAGE = 20;

export function Posts({ mint, fresh }: { mint: string; fresh: number }) {
  const path = `/coins/${encodeURIComponent(mint)}/posts?limit=${PAGE}`;
  const first = useResource<PostsResponse>(path);
  const [older, setOlder] = useState<AgentPost[]>([]);
  const [failure, setFailure] = useState<string | null>(null);
  // A post that was heard of is read.
  useEffect(() => {
    if (fresh > 0) first.again();
  }, [fresh]);
  return html`<${Loaded} of=${first} rows=${4}>${(data: PostsResponse) => {
    const known = new Map([...data.posts, ...older].map((post) => [post.id, post]));
    const posts = [...known.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const more = () => {
      getJson<PostsResponse>(`${path}&offset=${posts.length}`).then(
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
      <ol class="posts" aria-live="polite">${posts.map((post) => html`<${Post} key=${post.id} post=${post} />`)}</ol>
      ${posts.length < data.total && html`<button type="button" class="plain" onClick=${more}>Older posts</button>`}
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
