import { render } from 'preact';
import { followLinks } from './address.ts';
import { App } from './app.ts';
import { html } from './html.ts';
import { keepScroll } from './scroll.ts';

followLinks();
keepScroll();
const root = document.getElementById('app') as HTMLElement;
root.className = '';
root.replaceChildren();
render(html`<${App} />`, root);
