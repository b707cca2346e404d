import { useEffect } from 'preact/hooks';
import { address } from './address.ts';
import { CoinPage } from './coin/page.ts';
import { html } from './html.ts';
import { Panel } from './parts/panel.ts';
import { Status } from './parts/status.ts';
import { ProtocolPage } from './protocol/page.ts';
import { RankingsPage } from './rankings/page.ts';
import { RegistriesPage } from './registries/page.ts';
import { IS_LOCAL_CHAIN } from './served.ts';

const LINKS = [
  ['/explorer/', 'Policies'],
  ['/explorer/protocol', 'Protocol'],
  ['/explorer/registries', 'Registries'],
] as const;

function pageOf(path: string) {
  const coin = mintOf(path);
  if (coin !== null) return html`<${CoinPage} key=${coin} mint=${coin} />`;
  if (path === '/explorer/') return html`<${RankingsPage} />`;
  if (path === '/explorer/protocol') return html`<${ProtocolPage} />`;
  if (path === '/explorer/registries') return html`<${RegistriesPage} />`;
  return html`<div class="page-head">
    <h1>No page here</h1>
    <p class="lead">The explorer has nothing at this address. A policy is at /explorer/coins/ and the mint of its token.${' '}
      <a href="/explorer/">All policies</a></p>
  </div>`;
}

/** The part of the path where a mint stands, decoded; null where there is none, or it cannot be decoded. */
function mintOf(path: string): string | null {
  const text = /^\/explorer\/coins\/([^/]+)$/.exec(path)?.[1];
  try {
    return text === undefined ? null : decodeURIComponent(text);
  } catch {
    return null;
  }
}

export function App() {
  const { path } = address.value;
  useEffect(() => {
    const name = LINKS.find(([href]) => href === path)?.[1];
    if (name !== undefined) document.title = `${name} · bankroll explorer`;
  }, [path]);
  return html`
    <a class="skip" href="#content">To the content</a>
    <header class="top">
      <a class="brand" href="/explorer/"><span class="mark" aria-hidden="true"></span>Bankroll</a>
      ${IS_LOCAL_CHAIN && html`<span class="tag" title="What happens on it is made up, prices too">Local chain</span>`}
      <nav aria-label="Pages">
        ${LINKS.map(
          ([href, name]) =>
            html`<a href=${href} aria-current=${path === href ? 'page' : undefined}>${name}</a>`,
        )}
      </nav>
      <${Status} />
    </header>
    <main id="content" tabindex="-1">${pageOf(path)}</main>
    <footer class="bottom">
      <p>
        Every number here is read from the chain, its events or a venue. Point at any amount, or tap it, for its base
        units, its source and its age. <span class="absent">absent</span> means that it cannot be told, and why; it never
        stands for zero.
      </p>
      <p><a href="/openapi.json">The API behind it</a></p>
    </footer>
    <${Panel} />
  `;
}
