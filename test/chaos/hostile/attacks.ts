import http from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { encodeBase58 } from '../../../schemas/solana/base58.ts';
import { createRandom, type Random } from './random.ts';

/** What hostile clients know of the product. */
export interface Target {
  url: string;
  mints: string[];
  /** Ports of the local chain's RPC and venues. */
  otherPorts: number[];
  seed: string;
  /** Of as many as there are of each kind. */
  share: number;
}

interface Attack {
  /** How many do it side by side. */
  many: number;
  /** One turn of one of them; it is called again as long as the attack lasts. */
  turn(target: Target, random: Random, who: string): Promise<void>;
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });

/** Asks and throws the answer away; whatever happens is what a hostile client wants. */
function ask(
  url: string,
  headers: Record<string, string>,
  options: { method?: string; body?: string } = {},
): Promise<void> {
  return new Promise((resolve) => {
    const request = http.request(url, { agent, headers, method: options.method ?? 'GET' }, (response) => {
      response.resume();
      response.on('close', resolve);
    });
    request.on('error', () => resolve());
    request.setTimeout(10_000, () => request.destroy());
    request.end(options.body);
  });
}

/** A connection that says something and then reads nothing; it ends by itself after a while. */
async function unread(url: string, text: string, heldMs: number): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(text);
  await pause(heldMs);
  socket.destroy();
}

const LONGEST = 'from=2020-01-01T00:00:00Z&to=2020-02-10T00:00:00Z&step=hour';

/** Pages that nobody asked for before: no answer of another helps. */
function page({ mints }: Target, random: Random): string {
  const mint = random.of(mints);
  const offset = random.below(100_000);
  return random.of([
    `/rankings?limit=200&offset=${offset}&search=${offset.toString(36)}`,
    `/rankings?sort=activity&order=asc&offset=${offset}`,
    `/coins/${mint}/activity?limit=200&offset=${offset}`,
    `/coins/${mint}/posts?limit=100&offset=${offset}`,
    `/coins/${mint}/history?${LONGEST}&n=${offset}`,
    `/quotes?search=${offset}`,
    `/explorer/coins/${mint}?n=${offset}`,
    `/coins/${encodeURIComponent(`<script>${offset}\u202e`)}`,
  ]);
}

const json = { 'content-type': 'application/json' };

export const ATTACKS: Record<string, Attack> = {
  'a flood of pages from one address': {
    many: 60,
    turn: (target, random) => ask(target.url + page(target, random), { 'x-forwarded-for': '192.0.2.1' }),
  },
  'a flood of pages from many addresses': {
    many: 20,
    turn: (target, random) => {
      const from = `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`;
      return ask(target.url + page(target, random), { 'x-forwarded-for': from });
    },
  },
  'readers that never read': {
    many: 60,
    turn: ({ url }, random) => {
      const line = `GET /rankings?limit=200&offset=${random.below(9)} HTTP/1.1\r\nHost: x\r\n`;
      return unread(url, `${line}X-Forwarded-For: 192.0.2.2\r\n\r\n`.repeat(20), 3_000);
    },
  },
  'listeners that never read': {
    many: 40,
    turn: ({ url }, random) => {
      const route = random.of(['activity', 'posts', 'rankings']);
      return unread(
        url,
        `GET /stream/${route} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.3\r\n\r\n`,
        4_000,
      );
    },
  },
  'bodies that are broken off': {
    many: 10,
    turn: ({ url, otherPorts }, random) => {
      const port = random.of([Number(new URL(url).port), ...otherPorts]);
      const route = random.of(['/api/agent/challenge', '/', '/perp/info', '/options/public/get_ticker']);
      return new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => {
          const head = `POST ${route} HTTP/1.1\r\nHost: x\r\nContent-Length: ${random.below(9_999) + 5}`;
          socket.write(`${head}\r\n\r\nhalf`, () => socket.resetAndDestroy());
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
  for (const [name, { many, turn }] of Object.entries(ATTACKS))
    for (let n = 0; n < Math.ceil(many * target.share); n += 1) void again(name, n, turn);

  async function again(name: string, n: number, turn: Attack['turn']): Promise<never> {
    const random = createRandom(`${target.seed} ${name} ${n}`);
    for (;;) {
      await turn(target, random, name);
      // A refused connection must not make this a loop that never lets go.
      await pause(1);
    }
  }
}
