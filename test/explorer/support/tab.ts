import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { PATIENCE_MS } from '../../support/awaited.ts';

export const CHROMIUM = (process.env.PATH ?? '')
  .split(path.delimiter)
  .map((directory) => path.join(directory, 'chromium'))
  .find((file) => existsSync(file));

/** Lists below the address bar, which nobody sees here: they open two more pages with each, at twice its cost. */
const ADDRESS_BAR = ['WebUIOmniboxPopup', 'WebUIOmniboxFullPopup', 'WebUIOmniboxAimPopup'];
/** What playwright-core disables itself: Chromium takes only the last of several such lists. */
const OFF_ANYWAY = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
];

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM as string,
    args: [
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--disable-features=${[...OFF_ANYWAY, ...ADDRESS_BAR].join()}`,
    ],
  });

const BUSY: [status: number, words: string][] = [
  [500, 'the store has not answered for'],
  [503, 'too many requests are waiting'],
];

/** A page, and everything it did that no page of the explorer may do. */
export interface Tab {
  page: Page;
  /** Errors on the console, thrown errors, dialogs, and requests to another address than ours. */
  faults: string[];
}

export async function openTab(browser: Browser, url: string): Promise<Tab> {
  const page = await browser.newPage({ baseURL: url, viewport: DESKTOP });
  page.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  page.on('console', (line) => {
    // The console says less about an error answer than the answer itself, which is recorded below.
    if (line.text().startsWith('Failed to load resource')) return;
    if (['error', 'warning'].includes(line.type()))
      faults.push(`${line.type()}: ${line.text()} at ${line.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`asked ${request.url()}`);
  });
  page.on('response', async (response) => {
    if (response.status() < 400) return;
    const body = await response.text().catch(() => 'a body that is gone');
    // A refusal of a very busy machine: the page says so and asks again, as it should.
    if (BUSY.some(([status, words]) => response.status() === status && body.includes(words))) return;
    faults.push(`answered ${response.status()} for ${response.url()}: ${body}`);
  });
  return { page, faults };
}

export async function closeTab({ page }: Tab): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.close();
}

const SHOTS = path.resolve(import.meta.dirname, '../../../artifacts/explorer');
export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };
/** As narrow as pages are asked to fit: the smallest phones, or a window at four times its size. */
export const NARROWEST = { width: 320, height: 640 };
const SCHEMES = ['light', 'dark'] as const;

/** Pictures of the page as it stands, in both schemes of colours, for whoever wants to look. */
export async function picture(page: Page, name: string): Promise<void> {
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: path.join(SHOTS, `${name}-${colorScheme}.png`), fullPage: true });
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Pixels by which the page is wider than the room beside its scroll bar. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate('Math.max(0, document.documentElement.scrollWidth - document.body.clientWidth)');

/** Numbers that reach out of their place, over what stands beside it, and a ranking that is wider than its room. */
export const spilled = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const right = (element) => element.getBoundingClientRect().right;
    const place = (figure) => figure.closest('td, dd, .newest') ?? figure.parentElement;
    return [
      ...[...document.querySelectorAll('button.figure')].filter((figure) => right(figure) > right(place(figure)) + 1),
      ...[...document.querySelectorAll('.table-frame:has(.ranking)')].filter(
        (frame) => frame.scrollWidth > frame.clientWidth,
      ),
    ].map((element) => 'spilled: ' + element.outerHTML.slice(0, 300));
  })()`);

/** Amounts in a ranking's sorted column that are not shown whole; a unit may be cut. */
export const cutAmounts = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const cut = (figure) => {
      const amount = [...figure.childNodes].find((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== '');
      if (amount === undefined) return false;
      const range = document.createRange();
      range.selectNodeContents(amount);
      const [text, place] = [range, figure.closest('td')].map((of) => of.getBoundingClientRect());
      return text.right > place.right + 1 || text.left < place.left ||
        (getComputedStyle(figure).overflow !== 'visible' && figure.scrollWidth > figure.clientWidth);
    };
    return [...document.querySelectorAll('td[data-ranks="true"] button.figure')].filter(cut)
      .map(({ textContent }) => 'cut: ' + textContent);
  })()`);

/** Whether an element shows less than its whole text, or than `text`, where that is given and put there first. */
export const isCutOff = (page: Page, selector: string, text: string | null = null): Promise<boolean> =>
  page.evaluate(`(() => {
    const element = document.querySelector('${selector}');
    const text = ${JSON.stringify(text)};
    if (text !== null) element.textContent = text;
    const range = document.createRange();
    range.selectNodeContents(element);
    const [all, shown] = [range.getBoundingClientRect(), element.getBoundingClientRect()];
    return all.right > shown.right + 1 || all.left < shown.left - 1 || all.bottom > shown.bottom + 1;
  })()`);

/** Pixels by which an element reaches out of the page to the right. */
export const reaches = (page: Page, selector: string): Promise<number> =>
  page.evaluate(
    `Math.max(0, document.querySelector('${selector}').getBoundingClientRect().right - document.body.clientWidth)`,
  );

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds serious or critical in the page as it stands; for the dark scheme only its contrasts. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const light = await axe(page, '{ resultTypes: ["violations"] }');
  await page.emulateMedia({ colorScheme: 'dark' });
  const dark = await axe(page, '{ resultTypes: ["violations"], runOnly: ["color-contrast"] }');
  await page.emulateMedia({ colorScheme: 'light' });
  return [...light, ...dark.map((line) => `dark: ${line}`)];
}

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

async function axe(page: Page, options: string): Promise<string[]> {
  const found = await page.evaluate<Violation[]>(`axe.run(${options}).then((said) => said.violations)`);
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`));
}

export interface Drawing {
  name: string;
  /** Whether its table has an amount that is not zero. */
  hasAmounts: boolean;
  /** How many pixels of its canvas have the colour of what it draws. */
  pixels: number;
}

/** What each chart with a heading has drawn. @param colours the style sheet's names of colours, by the chart's name */
export const drawings = (page: Page, colours: Record<string, string>): Promise<Drawing[]> =>
  page.evaluate<Drawing[]>(`(() => {
    const colours = ${JSON.stringify(colours)};
    const style = getComputedStyle(document.documentElement);
    return [...document.querySelectorAll('section:has(.equity), .small-chart')].map((chart) => {
      const name = chart.querySelector('h2, h3').textContent;
      const hasAmounts = [...chart.querySelectorAll('td')].some(({ textContent }) => /[1-9]/.test(textContent));
      const colour = parseInt(style.getPropertyValue(colours[name]).trim().slice(1), 16);
      const canvas = chart.querySelector('canvas');
      if (canvas === null) return { name, hasAmounts, pixels: 0 };
      // Off the page's own canvas, which the browser would warn of.
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      let pixels = 0;
      for (let at = 0; at < data.length; at += 4)
        if (data[at + 3] === 255 && ((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]) === colour) pixels += 1;
      return { name, hasAmounts, pixels };
    });
  })()`);
