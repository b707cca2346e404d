import type { Assets } from './assets.ts';

export const ASSETS_PATH = '/explorer/assets';

/** Pages by their path below /explorer/, with the title of the tab until the page has loaded more. */
export const PAGES = {
  '': 'Policies',
  'coins/:mint': 'Policy',
  protocol: 'Protocol',
  registries: 'Registries',
} as const;

/** Whether `Accept` asks for HTML: browsers do where an address is opened, clients of the API do not. */
export const asksForPages = (accept: string | undefined): boolean => accept?.includes('text/html') === true;

/** What a page says of the service that serves it, which no answer of the API has. */
export interface Served {
  service: string;
  /** The address of the program that is indexed, base58. */
  programId: string;
  isLocalChain: boolean;
}

/** The document of a page: its scripts and styles are files of their own, nothing is inline. */
export function document(assets: Assets, title: string, served: Served): string {
  const at = (name: string) => `${ASSETS_PATH}/${name}`;
  const lines = [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="description" content="What launched tokens do with their trading fees, and why: each number with its source.">',
    `<meta name="program" content="${escaped(served.programId)}">`,
    ...(served.isLocalChain ? ['<meta name="chain" content="local">'] : []),
    `<title>${escaped(title)} · ${escaped(served.service)}</title>`,
    `<link rel="icon" type="image/svg+xml" href="${at(assets.icon)}">`,
    ...assets.styles.map((name) => `<link rel="stylesheet" href="${at(name)}">`),
    ...assets.preloads.map((name) => `<link rel="modulepreload" href="${at(name)}">`),
    `<script type="module" src="${at(assets.entry)}"></script>`,
    '</head>',
    '<body>',
    '<div id="app" class="booting"><p>Loading the explorer …</p>',
    '<p class="late">It has not come: reload the page to ask for it again.</p></div>',
    '<noscript><p>The explorer is drawn by scripts of this address. The same numbers, as JSON: ',
    '<a href="/rankings">/rankings</a>, <a href="/analytics">/analytics</a>, <a href="/status">/status</a>.</p></noscript>',
    '</body>',
    '</html>',
    '',
  ];
  return lines.join('\n');
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string);
