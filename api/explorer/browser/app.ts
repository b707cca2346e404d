import { useEffect } from 'preact/hooks';
import { address } from './address.ts';
import { CoinPage } from './coin/page.ts';
import { html } from './html.ts';
import { Panel } from './parts/panel.ts';
import { Status } from './parts/status.ts';
import { ProtocolPage } from './protocol/page.ts';
import { RankingsPage } from './rankings/page.ts';
import { RegistriesPage } from './registries/page.ts';

const LINKS = [
  ['/explorer/', 'Policies'],
  ['/explorer/protocol', 'Protocol'],
  ['/explorer/registries', 'Registries'],
] as const;

function pageOf(path: string) {
  const coin = /^\/explorer\/coins\/([^/]+)$/.exec(path)?.[1];
  if (coin !== undefined) return html`<${CoinPage} key=${coin} mint=${decodeURIComponent(coin)} />`;
  if (path === '/explorer/protocol') return html`<${ProtocolPage} />`;
  if (path === '/explorer/registries') return html`<${RegistriesPage} />`;
  return html`<${RankingsPage} />`;
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
        Every number here is read from the chain, its events or a venue. Point at one, or tap it, for its base units,
        its source and its age. <span class="absent">absent</span> means that it cannot be told, and why; it never
        stands for zero.
      </p>
      <p><a href="/openapi.json">The API behind it</a></p>
    </footer>
    <${Panel} />
  `;
}
