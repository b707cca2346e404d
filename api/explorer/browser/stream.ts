/** Handlers for the events of a stream, each called with the data of its kind. */
export interface Followers {
  activity?: (data: unknown) => void;
  post?: (data: unknown) => void;
  ranking?: (data: unknown) => void;
  gap?: (data: unknown) => void;
  state?: (open: boolean) => void;
  /** Called every AGAIN_MS while the stream is refused. */
  without?: () => void;
}

const KINDS = ['activity', 'post', 'ranking', 'gap'] as const;
const AGAIN_MS = 5_000;
/** A tab that is only passed by, on the way to another one, keeps its connection for this long. */
const UNSEEN_MS = 1_000;

/**
 * Follows a stream until the returned function is called: the tab's only one. The browser resumes it by itself. A
 * hidden tab has no connection: over HTTP/1.1 a browser opens six to one host, for all tabs together, and whatever
 * comes after six streams waits for ever.
 */
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
    // The server ends the stream and says why; the browser connects again.
    opened.addEventListener('end', () => followers.state?.(false));
    opened.addEventListener('error', () => {
      followers.state?.(false);
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      // Refused: browsers do not retry then.
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
  if (document.visibilityState !== 'hidden') open();
  return () => {
    document.removeEventListener('visibilitychange', seen);
    clearTimeout(unseen);
    followers.state = () => undefined;
    close();
  };
}
