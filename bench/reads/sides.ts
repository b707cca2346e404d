import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Child, startChild } from '../support/child.ts';
import type { Load, Loaded } from './load.ts';

/** A server that readers ask, and where. */
export interface Side {
  child: Child;
  url: string;
}

export async function open(file: string, args: readonly string[]): Promise<Side> {
  const child = startChild(file, args);
  const { port } = await child.heard<{ port: number }>();
  return { child, url: `http://127.0.0.1:${port}` };
}

/** One that sends the bytes that another answers, and nothing else. */
export async function bareOf(side: Side, pathname: string, directory: string): Promise<Side> {
  const answer = await fetch(side.url + pathname);
  if (answer.status !== 200) throw new Error(`${pathname} answered ${answer.status}`);
  const file = path.join(directory, `body-${Math.random().toString(36).slice(2)}`);
  writeFileSync(file, await answer.text());
  return open('bench/reads/bare.ts', [file]);
}

export type Asked = Omit<Load, 'url' | 'headers' | 'rate'> & Partial<Pick<Load, 'headers' | 'rate'>>;

/** Asks a side from a process of its own. @throws Error where an answer failed. */
export async function load({ url }: Pick<Side, 'url'>, asked: Asked): Promise<Loaded> {
  const child = startChild('bench/reads/load.ts');
  const loaded = await child.ask<Loaded>({ headers: {}, rate: null, ...asked, url });
  await child.stop();
  if (loaded.failed > 0) throw new Error(`${loaded.failed} requests of ${asked.paths[0]} failed`);
  return loaded;
}
