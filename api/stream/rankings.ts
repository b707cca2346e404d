import { createHash } from 'node:crypto';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import type { Applied } from '../latest/applied-signal.ts';
import type { StreamClient } from './client.ts';
import type { Clients } from './clients.ts';
import { createTicker } from './ticker.ts';
import { beginText } from './wire.ts';

export interface RankingFeedParts {
  clients: Clients;
  applied: Applied;
  /** The first rows of a ranking; the same question is the same text. */
  read(question: string): Promise<RankingsResponse>;
  onError(error: unknown): void;
}

interface Followed {
  clients: Set<StreamClient>;
  latest: { id: string; data: RankingsResponse } | null;
  marker: string;
}

const EVERY_MS = 1_000;
/** Different questions that are followed at once: each is work of its own. */
const MOST_QUESTIONS = 64;

/** Rankings as they change: each question is answered once for all who ask it, at most once a second. */
export function createRankingFeed({ clients, applied, read, onError }: RankingFeedParts) {
  const questions = new Map<string, Followed>();

  async function look(question: string, followed: Followed): Promise<void> {
    const marker = applied.marker();
    if (marker === followed.marker) return;
    const data = await read(question);
    followed.marker = marker;
    const id = `r${createHash('sha1').update(JSON.stringify(data)).digest('base64url')}`;
    if (id === followed.latest?.id) return;
    followed.latest = { id, data };
    for (const client of followed.clients) client.send({ event: 'ranking', id, data });
  }

  const ticker = createTicker({
    everyMs: EVERY_MS,
    wanted: () => questions.size > 0,
    tick: async () => {
      for (const [question, followed] of questions) await look(question, followed);
    },
    onError,
  });

  return {
    subscribe: (address: string, question: string, lastId: string | null) => {
      if (!questions.has(question) && questions.size >= MOST_QUESTIONS) return 'busy' as const;
      const client = clients.open(address);
      if (typeof client === 'string') return client;
      const followed = questions.get(question) ?? { clients: new Set(), latest: null, marker: '' };
      questions.set(question, followed);
      followed.clients.add(client);
      client.body.once('close', () => {
        followed.clients.delete(client);
        if (followed.clients.size === 0) questions.delete(question);
      });
      const { latest } = followed;
      client.write(beginText(lastId));
      if (latest !== null && latest.id !== lastId)
        client.send({ event: 'ranking', id: latest.id, data: latest.data });
      ticker.wake();
      return client.body;
    },
  };
}
