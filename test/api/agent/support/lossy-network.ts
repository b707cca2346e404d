export interface LossyNetwork {
  sent: { method: string; path: string; body: string }[];
  /** An answer that is lost after the service gave it, or a request before the service gets it; once. */
  lose: { path: string; when: 'answer' | 'request' } | null;
  /** Reads of the path are answered with these first, without the service. */
  instead: { path: string; answers: Response[] };
  fetch: typeof fetch;
}

/** A `fetch` that records what is sent, and can lose requests and answers. */
export function lossyNetwork(): LossyNetwork {
  const net: LossyNetwork = {
    sent: [],
    lose: null,
    instead: { path: '', answers: [] },
    fetch: (async (url: URL, init: RequestInit) => {
      const { method = 'GET' } = init;
      net.sent.push({
        method,
        path: url.pathname,
        body: `${init.body ?? ''}${JSON.stringify(init.headers)}`,
      });
      const lost = net.lose !== null && url.pathname.endsWith(net.lose.path) ? net.lose : null;
      if (lost !== null) net.lose = null;
      if (lost?.when === 'request') throw new TypeError('fetch failed');
      const isRead = method === 'GET' && url.pathname.endsWith(net.instead.path);
      const answer = isRead ? net.instead.answers.shift() : undefined;
      const response = answer ?? (await fetch(url, init));
      if (lost?.when === 'answer') throw new TypeError('fetch failed');
      return response;
    }) as typeof fetch,
  };
  return net;
}
