/** What a stream tells: each kind of event that is asked for, by its data. */
export interface Followers {
  activity?: (data: unknown) => void;
  post?: (data: unknown) => void;
  ranking?: (data: unknown) => void;
  gap?: (data: unknown) => void;
  state?: (open: boolean) => void;
  /** Called every so often while there is no stream to be had. */
  without?: () => void;
}

const KINDS = ['activity', 'post', 'ranking', 'gap'] as const;
const AGAIN_MS = 5_000;
/** A tab that nobody looks at gives its connection back after this long. */
const UNSEEN_MS = 60_000;

/** Follows a stream until it is told to stop: the one connection of this tab. The browser resumes by itself. */
export function follow(path: string, followers: Followers): () => void {
  let source: EventSource | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;
  let unseen: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    source?.close();
    source = null;
    clearTimeout(again);
    followers.state?.(false);
  };
  const open = () => {
    clearTimeout(again);
    source?.close();
    const opened = new EventSource(path);
    source = opened;
    opened.addEventListener('open', () => followers.state?.(true));
    for (const kind of KINDS)
      opened.addEventListener(kind, ({ data }) => followers[kind]?.(JSON.parse(String(data))));
    // It says why; the browser connects again.
    opened.addEventListener('end', () => followers.state?.(false));
    opened.addEventListener('error', () => {
      followers.state?.(false);
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      // Refused: browsers leave it at that.
      followers.without?.();
      again = setTimeout(open, AGAIN_MS);
    });
  };
  const seen = () => {
    clearTimeout(unseen);
    if (document.visibilityState === 'hidden') unseen = setTimeout(close, UNSEEN_MS);
    else if (source === null) open();
  };
  document.addEventListener('visibilitychange', seen);
  open();
  return () => {
    document.removeEventListener('visibilitychange', seen);
    clearTimeout(unseen);
    followers.state = () => undefined;
    close();
  };
}
