import { useEffect, useRef, useState } from 'preact/hooks';
import { follow } from '../stream.ts';

/** Counts that rise when there is something new of a policy, for lists to be read again. */
export interface Live {
  open: boolean;
  events: number;
  posts: number;
}

/** Figures are read again at most this often, however much happens. */
const GATHER_MS = 1_000;

/** Whether a `gap` of the stream is one of posts, to be read again. */
const isOfPosts = (gap: unknown): boolean =>
  String((gap as { read?: unknown } | null)?.read).endsWith('/posts');

/** Events and posts of a policy over one connection; `onEvents` is called after there were some. */
export function useLive(mint: string | null, onEvents: () => void): Live {
  const [live, setLive] = useState<Live>({ open: false, events: 0, posts: 0 });
  const newest = useRef(onEvents);
  newest.current = onEvents;
  useEffect(() => {
    if (mint === null) return;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const events = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        setLive((before) => ({ ...before, events: before.events + 1 }));
        newest.current();
      }, GATHER_MS);
    };
    const posts = () => setLive((before) => ({ ...before, posts: before.posts + 1 }));
    const both = () => {
      events();
      posts();
    };
    const stop = follow(`/stream/activity?mint=${encodeURIComponent(mint)}&posts=true`, {
      activity: events,
      post: posts,
      gap: (data) => (isOfPosts(data) ? posts() : events()),
      state: (open) => {
        setLive((before) => ({ ...before, open }));
        // Whatever came before the stream was open is read now.
        if (open) both();
      },
      // Without a stream both are polled, every few seconds.
      without: both,
    });
    return () => {
      clearTimeout(gathering);
      stop();
    };
  }, [mint]);
  return live;
}
