import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Child, startChild } from '../support/child.ts';
import type { Load, Loaded } from './load.ts';

/** A server that readers ask, and where. */
export interface Side {
  child: Child;
  url: string;
}

export async function open(
  file: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<Side> {
  const child = startChild(file, args, flags);
  const { port } = await child.heard<{ port: number }>();
  return { child, url: `http://127.0.0.1:${port}` };
}

/** Our own, in a process that is run as `npm run api` runs it. */
export function openOurs(place: string, policies: number, updates: number): Promise<Side> {
  const { scripts } = JSON.parse(readFileSync(path.resolve('package.json'), 'utf8')) as {
    scripts: { api: string };
  };
  const flags = scripts.api.split(' ').filter((word) => word.startsWith('--'));
  return open('bench/reads/product.ts', [place, String(policies), String(updates)], flags);
}

/** Of so many the answers are sent in turn: they are not of one size. */
const SAMPLE = 60;

/** One that sends the bytes that another answers, and nothing else. */
export async function bareOf(side: Side, paths: readonly string[], directory: string): Promise<Side> {
  const files: string[] = [];
  for (const pathname of paths.slice(0, SAMPLE)) {
    const answer = await fetch(side.url + pathname);
    if (answer.status !== 200) throw new Error(`${pathname} answered ${answer.status}`);
    const file = path.join(directory, `body-${Math.random().toString(36).slice(2)}`);
    writeFileSync(file, await answer.text());
    files.push(file);
  }
  return open('bench/reads/bare.ts', files);
}

export type Asked = Omit<Load, 'url' | 'headers' | 'rate'> & Partial<Pick<Load, 'headers' | 'rate'>>;

/** Asks a side from a process of its own. */
export async function load({ url }: Pick<Side, 'url'>, asked: Asked): Promise<Loaded> {
  const child = startChild('bench/reads/load.ts');
  const loaded = await child.ask<Loaded>({ headers: {}, rate: null, ...asked, url });
  await child.stop();
  return loaded;
}

/** For the line of a bench. */
export const failedOf = ({ failed }: Pick<Loaded, 'failed'>): string =>
  failed === 0 ? '' : `, ${failed} FAILED`;
