import { signal } from '@preact/signals';

/** Where the tab is. It decides everything that a page shows, so that a page can be sent, reloaded and gone back to. */
export interface Address {
  path: string;
  query: URLSearchParams;
}

const read = (): Address => ({ path: location.pathname, query: new URLSearchParams(location.search) });

export const address = signal<Address>(read());

export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', href);
  else history.replaceState(history.state, '', href);
  const from = address.value.path;
  address.value = read();
  if (how === 'push' && address.value.path !== from) {
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
  }
}

/** Changes parameters of the query; one that is null or empty is removed. */
export function ask(changes: Record<string, string | null>, how: 'push' | 'replace' = 'push'): void {
  go(pathOf(changes), how);
}

/** Where it is with other parameters of the query. */
export function pathOf(changes: Record<string, string | null>): string {
  const query = new URLSearchParams(address.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return `${address.value.path}${text === '' ? '' : `?${text}`}`;
}

/** Links of the explorer change the address without a new document; all others, and new tabs, are the browser's. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    address.value = read();
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest('a');
    if (link === null || link === undefined || link.target !== '' || link.hasAttribute('download')) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !url.pathname.startsWith('/explorer/') || url.hash !== '') return;
    event.preventDefault();
    go(`${url.pathname}${url.search}`);
  });
}
