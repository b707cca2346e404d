import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { formerAgent } from './agents.ts';
import { createRandom, type Random } from './random.ts';
import { ask, hold, json } from './wire.ts';

/** What hostile clients know about the product. */
export interface Target {
  url: string;
  mints: string[];
  /** Mint of the policy that the honest agent writes for. */
  honest: string;
  /** Ports of the local chain's RPC and venues. */
  otherPorts: number[];
  seed: string;
  /** Share of each attack's `many` clients that is started. */
  share: number;
}

interface Attack {
  /** How many clients do it side by side. */
  many: number;
  /** One turn of one client; it is repeated for as long as the attack lasts. */
  turn(target: Target, random: Random, who: string): Promise<unknown>;
}

/** The query of a history of about as many hours as one may have. */
function longest(random: Random): string {
  const to = Date.now() - random.below(10_000) * 1000;
  return `step=hour&to=${Math.floor(to / 1000)}&from=${Math.floor(to / 1000) - 990 * 3600}`;
}

/** A page that was probably never asked for before, so that no kept answer serves it. */
function page({ mints }: Target, random: Random): string {
  const mint = random.of(mints);
  const offset = random.below(100_000);
  return random.of([
    `/rankings?limit=200&offset=${offset}&search=${offset.toString(36)}`,
    `/rankings?sort=activity&order=asc&offset=${offset}`,
    `/coins/${mint}/activity?limit=200&offset=${offset}`,
    `/coins/${mint}/posts?limit=100&offset=${offset}`,
    `/coins/${mint}/history?${longest(random)}`,
    `/quotes?search=${offset}`,
    `/explorer/coins/${mint}?n=${offset}`,
    `/coins/${encodeURIComponent(`<script>${offset}\u202e`)}`,
  ]);
}

/** A stream with a query that probably no other client has, or one that begins as far back as possible. */
function stream(random: Random): string {
  const n = random.below(100_000);
  return random.of([
    `/stream/rankings?search=${n.toString(36)}`,
    `/stream/rankings?sort=activity&origin=${n}`,
    '/stream/activity?posts=true&after=e1.0.0.1-p0.0',
    '/stream/posts?after=p0.0',
    '/stream/activity',
  ]);
}

const head = (path: string, from: string) =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\n\r\n`;
const anyAddress = (random: Random) => `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`;

const ATTACKS: Record<string, Attack> = {
  'a flood of pages from one address': {
    many: 60,
    turn: (target, random) => ask(target.url + page(target, random), { 'x-forwarded-for': '192.0.2.1' }),
  },
  'a flood of pages from many addresses': {
    many: 20,
    turn: (target, random) =>
      ask(target.url + page(target, random), { 'x-forwarded-for': anyAddress(random) }),
  },
  'histories of the longest range': {
    many: 20,
    turn: ({ url, mints }, random) => {
      const route = random.of(['/analytics', `/coins/${random.of(mints)}`]);
      return ask(`${url}${route}/history?${longest(random)}`, { 'x-forwarded-for': '192.0.2.5' });
    },
  },
  'readers that never read': {
    many: 60,
    turn: ({ url }, random) => {
      const request = head(`/rankings?limit=200&offset=${random.below(9)}`, '192.0.2.2');
      return hold(url, request.repeat(20), 3_000, false);
    },
  },
  'listeners that never read': {
    many: 40,
    turn: ({ url }, random) => {
      const route = random.of(['activity', 'posts', 'rankings']);
      return hold(url, head(`/stream/${route}`, '192.0.2.3'), 4_000, false);
    },
  },
  'a flood of streams from one address': {
    many: 120,
    turn: ({ url }, random) => hold(url, head(stream(random), '192.0.2.4'), random.below(3_000), true),
  },
  'a flood of streams from many addresses': {
    many: 60,
    turn: ({ url }, random) => hold(url, head(stream(random), anyAddress(random)), random.below(3_000), true),
  },
  'bodies that are broken off': {
    many: 10,
    turn: ({ url, otherPorts }, random) => {
      const port = random.of([Number(new URL(url).port), ...otherPorts]);
      const route = random.of(['/api/agent/challenge', '/', '/perp/info', '/options/public/get_ticker']);
      return new Promise<void>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          const lines = `POST ${route} HTTP/1.1\r\nHost: x\r\nContent-Length: ${random.below(9_999) + 5}`;
          socket.write(`${lines}\r\n\r\nhalf`, () => socket.resetAndDestroy());
        });
        socket.on('error', () => undefined);
        socket.on('close', () => resolve());
      });
    },
  },
  'forged headers and tokens': {
    many: 10,
    turn: ({ url }, random) => {
      const forged = random.of(['garbage', '1.2.3.4, , ,', '::ffff:1.2.3.4'.repeat(50), '127.0.0.1']);
      const token = random.bytes(32).toString('base64url');
      const headers = { ...json, 'x-forwarded-for': forged, authorization: `Bearer ${token}` };
      return ask(`${url}/api/agent/posts`, headers, { method: 'POST', body: '{"kind":"idle","text":"x"}' });
    },
  },
  'agents that were rotated out, and posts that would harm a page': {
    many: 6,
    turn: ({ url, mints, honest }, random) =>
      formerAgent({ url, mints: mints.filter((mint) => mint !== honest), seed: '1' }, random),
  },
  'challenges for keys that are not the agent’s': {
    many: 10,
    turn: ({ url, mints }, random, who) => {
      const body = JSON.stringify({ mint: random.of(mints), agent: encodeBase58(random.bytes(32)) });
      const from = `198.51.100.${who.length + random.below(50)}`;
      return ask(
        `${url}/api/agent/challenge`,
        { ...json, 'x-forwarded-for': from },
        { method: 'POST', body },
      );
    },
  },
};

if (process.argv[2] !== undefined) {
  const target = JSON.parse(process.argv[2]) as Target;
  process.stdin.resume().once('end', () => process.exit());
  for (const [name, { many, turn }] of Object.entries(ATTACKS))
    for (let n = 0; n < Math.ceil(many * target.share); n += 1) void again(name, n, turn);

  async function again(name: string, n: number, turn: Attack['turn']): Promise<never> {
    const random = createRandom(`${target.seed} ${name} ${n}`);
    for (;;) {
      await turn(target, random, name);
      // Where connections are refused at once, this loop must still let others run.
      await pause(1);
    }
  }
}
