import { createHash } from 'node:crypto';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import type { Latest } from '../latest/latest.ts';
import type { Made } from '../latest/made.ts';
import type { View } from '../latest/view.ts';
import type { StreamClient } from './client.ts';
import type { Clients } from './clients.ts';
import { createTicker } from './ticker.ts';
import { beginText } from './wire.ts';

export interface RankingFeedParts {
  clients: Clients;
  latest: Latest;
  /** The first rows of a ranking; the same question is the same text. */
  make(view: View, question: string): RankingsResponse;
  onError(error: unknown): void;
}

interface Followed {
  clients: Set<StreamClient>;
  /** What was told last, and what it was made of. */
  told: { id: string; data: RankingsResponse; made: Made<RankingsResponse> } | null;
}

const EVERY_MS = 1_000;
/** Different questions that are followed at once: each is work of its own. */
const MOST_QUESTIONS = 64;

/** Rankings as they change: each question is answered once for all who ask it, at most once a second. */
export function createRankingFeed({ clients, latest, make, onError }: RankingFeedParts) {
  const questions = new Map<string, Followed>();

  async function look(question: string, followed: Followed): Promise<void> {
    if (followed.told !== null && latest.held(followed.told.made)) return;
    const made = await latest.read((view) => make(view, question));
    const data = made.value;
    const id = `r${createHash('sha1').update(JSON.stringify(data)).digest('base64url')}`;
    const before = followed.told?.id;
    followed.told = { id, data, made };
    if (id !== before) for (const client of followed.clients) client.send({ event: 'ranking', id, data });
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
      const followed = questions.get(question) ?? { clients: new Set(), told: null };
      questions.set(question, followed);
      followed.clients.add(client);
      client.body.once('close', () => {
        followed.clients.delete(client);
        if (followed.clients.size === 0) questions.delete(question);
      });
      const { told } = followed;
      client.write(beginText(lastId));
      if (told !== null && told.id !== lastId)
        client.send({ event: 'ranking', id: told.id, data: told.data });
      ticker.wake();
      return client.body;
    },
  };
}
