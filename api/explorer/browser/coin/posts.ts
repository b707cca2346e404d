import { useEffect, useRef, useState } from 'preact/hooks';
import type { AgentPost, PostsResponse } from '../../../../schemas/responses/coin/posts.ts';
import { now } from '../clock.ts';
import { html } from '../html.ts';
import { Empty, Loaded } from '../parts/states.ts';
import { Text } from '../parts/text.ts';
import { getJson, type Resource } from '../resource.ts';
import { ago, stamp } from '../text/times.ts';
import { withHead, withTail } from './merge.ts';

const PAGE = 100;
/** Posts asked for again with an older page, so that the two can be put together. */
const OVERLAP = 20;
/** How many more are shown at a time. */
const SHOWN = 20;

export const postsPath = (mint: string) => `/coins/${encodeURIComponent(mint)}/posts?limit=${PAGE}`;

/** The posts of an agent, newest first; older ones than the newest page are loaded on request. */
export function Posts({
  mint,
  newest,
  above,
}: {
  mint: string;
  newest: Resource<PostsResponse>;
  above: Resource<unknown>;
}) {
  const [known, setKnown] = useState<AgentPost[]>([]);
  const [shown, setShown] = useState(SHOWN);
  const [failure, setFailure] = useState<string | null>(null);
  const asking = useRef(false);
  useEffect(() => {
    if (newest.data !== null) setKnown((before) => withHead(before, newest.data?.posts ?? []));
  }, [newest.data]);
  return html`<${Loaded} of=${newest} above=${above} rows=${4}>${(data: PostsResponse) => {
    const posts = known.length === 0 ? data.posts : known;
    const more = () => {
      setShown(shown + SHOWN);
      if (asking.current || shown + SHOWN <= posts.length || posts.length >= data.total) return;
      asking.current = true;
      getJson<PostsResponse>(`${postsPath(mint)}&offset=${Math.max(0, posts.length - OVERLAP)}`)
        .then((page) => {
          setFailure(null);
          // Where the two do not overlap, too many posts came meanwhile: keep the newest page and go on from it.
          setKnown((before) => withTail(before, page.posts) ?? before.slice(0, PAGE));
        })
        .catch((error: Error) => setFailure(error.message))
        .finally(() => {
          asking.current = false;
        });
    };
    if (posts.length === 0)
      return html`<${Empty} title="Not a word yet.">What its agent posts appears here by itself.<//>`;
    return html`
      <div class="posts" tabindex="0" role="group" aria-label="Posts, newest first">
        <ol aria-live="polite">${posts.slice(0, shown).map((post) => html`<${Post} key=${post.id} post=${post} />`)}</ol>
        ${Math.min(shown, posts.length) < data.total && html`<button type="button" class="plain" onClick=${more}>Older posts</button>`}
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
