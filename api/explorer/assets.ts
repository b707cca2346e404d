import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Encoding } from '../http/answers/accept-encoding.ts';
import { type Asset, hashedName, linkModules } from './link-modules.ts';

/** What the pages are made of. */
export interface Assets {
  /** By file name. */
  files: ReadonlyMap<string, Asset & { packed(encoding: Encoding): Promise<Buffer> }>;
  /** The first module to run; `preloads` are it and every module that it imports statically. */
  entry: string;
  preloads: readonly string[];
  styles: readonly string[];
  icon: string;
}

const BROWSER = path.join(import.meta.dirname, 'browser');
const PACKAGES = path.join(import.meta.dirname, '../../node_modules');

/** The libraries, by the name that imports use, with the file of their package that browsers can load. */
const LIBRARIES: Record<string, string> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  '@preact/signals': '@preact/signals/dist/signals.mjs',
  '@preact/signals-core': '@preact/signals-core/dist/signals-core.mjs',
  htm: 'htm/dist/htm.mjs',
  uplot: 'uplot/dist/uPlot.esm.js',
};
const CHART_STYLE = 'uplot/dist/uPlot.min.css';

/** Reads, strips and links everything that a browser is given; a second or less, once. */
export function readAssets(): Assets {
  const modules = new Map<string, string>();
  for (const file of globSync('**/*.ts', { cwd: BROWSER }))
    modules.set(file, stripTypeScriptTypes(readFileSync(path.join(BROWSER, file), 'utf8')));
  for (const [name, file] of Object.entries(LIBRARIES))
    modules.set(name, withoutMap(readFileSync(path.join(PACKAGES, file), 'utf8')));
  const linked = linkModules(modules, (specifier, from) =>
    specifier.startsWith('.') ? path.join(path.dirname(from), specifier) : specifier,
  );
  const sheets = globSync('styles/*.css', { cwd: BROWSER }).sort();
  const styles = [path.join(PACKAGES, CHART_STYLE), ...sheets.map((sheet) => path.join(BROWSER, sheet))].map(
    (file) => asset(path.basename(file, '.css'), readFileSync(file), 'css', 'text/css; charset=utf-8'),
  );
  const icon = asset('icon', readFileSync(path.join(BROWSER, 'icon.svg')), 'svg', 'image/svg+xml');
  const entry = linked.get('main.ts');
  if (entry === undefined) throw new Error('the explorer has no main.ts');
  const all: Asset[] = [...linked.values(), ...styles, icon];
  return {
    files: new Map(all.map((file) => [file.fileName, { ...file, packed: packedOnce(file.bytes) }])),
    entry: entry.fileName,
    preloads: [...entry.needs],
    styles: styles.map(({ fileName }) => fileName),
    icon: icon.fileName,
  };
}

/** Above this step brotli takes ten times as long to save a hundredth. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)];
const PACK: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => brotli(bytes, BROTLI),
  gzip: (bytes) => zip(bytes, { level: 9 }),
};

/** Packs each form once, at its first request and on other threads: packing all at start kept every request waiting. */
function packedOnce(bytes: Buffer): (encoding: Encoding) => Promise<Buffer> {
  const made = new Map<Encoding, Promise<Buffer>>();
  return (encoding) => {
    const known = made.get(encoding) ?? PACK[encoding](bytes);
    made.set(encoding, known);
    return known;
  };
}

function asset(name: string, bytes: Buffer, ending: string, type: string): Asset {
  return { fileName: hashedName(name.replaceAll(/[^\w-]+/g, '-'), bytes, ending), type, bytes };
}

/** Source maps of libraries are not served: a browser that looks for one would get a 404. */
const withoutMap = (text: string) => text.replace(/\/\/# sourceMappingURL=.*\s*$/, '\n');
