import { createHash } from 'node:crypto';
import { setImmediate as whatElseCame } from 'node:timers/promises';
import type { Store } from '../../clickhouse/client.ts';
import { eachYielding } from '../../runtime/yielding.ts';
import type { RankingsResponse } from '../../schemas/responses/rankings.ts';
import type { Latest } from '../latest/latest.ts';
import type { Memo } from '../latest/memos/memo.ts';
import type { View } from '../latest/view.ts';
import type { StreamClient } from './client.ts';
import type { Clients } from './clients.ts';
import { createTicker } from './ticker.ts';
import { beginText, eventOf } from './wire.ts';

export interface RankingFeedParts {
  clients: Clients;
  latest: Latest;
  /** The first rows of a ranking. A question is a query string; the same question is the same text. */
  make(view: View, question: string): RankingsResponse;
  onError(error: unknown): void;
  /** Milliseconds that only go forward: `performance.now` unless it is given. */
  now?(): number;
}

interface Followed {
  /** Each with the id of the ranking that it was last sent, here or where it was connected before. */
  clients: Map<StreamClient, string | null>;
  /** Clients that came when the ranking last sent no longer held: they do not wait for the next look for all. */
  newcomers: Set<StreamClient>;
  /** When it was last looked at for all clients, in milliseconds that only go forward. */
  lookedAt: number;
  isFiltered: boolean;
  /** Address of the client that asked it first. */
  address: string;
  /** The ranking that was last sent, and what it was made of, in which database. */
  told: { id: string; bytes: Buffer; store: Store; made: Memo<unknown> } | null;
}

const EVERY_MS = 1_000;
/** How often to look for newcomers. */
const NEW_EVERY_MS = 200;
/** Different questions with filters that are followed at once, in all and of an address: each is made by itself. */
const MOST_FILTERED = 64;
const MOST_FILTERED_OF_ADDRESS = 8;
/** Clients that are sent a ranking, of some 100 kB, before other work runs. */
const TOLD_AT_ONCE = 10;
/** Parameters that are no filters: there are no more questions of them than sorts and orders. */
const UNFILTERED = new Set(['sort', 'order', 'limit']);
const ID = /^r[\w-]{27}$/;
/**
 * The time of a sum of nothing, in dollars too, is that of the newest slot: it moves with each, and says nothing new.
 */
const TIME_OF_NOTHING = /("value":"?0(?:\.0+)?"?,"source":"[^"]*","asOf":)"[^"]*"/g;

/**
 * Rankings as they change. Each question is answered once for all clients that ask it, at most once a second. For a
 * client that comes in between it is answered anew if it has changed since: what the client read before may be newer.
 */
export function createRankingFeed(parts: RankingFeedParts) {
  const { clients, latest, make, onError, now = () => performance.now() } = parts;
  const questions = new Map<string, Followed>();

  /** Sends a client the ranking that was last made, unless it has that already, or left while others were told. */
  function tell(client: StreamClient, { clients: has, told }: Followed): void {
    const had = has.get(client);
    if (told === null || had === undefined || had === told.id) return;
    has.set(client, told.id);
    client.write(told.bytes);
  }

  /** Whether the ranking that was last sent still holds. */
  const holds = (told: Followed['told']): boolean =>
    told !== null && told.store === latest.currentStore() && latest.stillHolds(told.made);

  async function makeAnew(question: string, followed: Followed): Promise<void> {
    const store = latest.currentStore();
    const made = await latest.read((view) => make(view, question));
    const json = JSON.stringify(made.value);
    const says = json.replace(TIME_OF_NOTHING, '$1');
    const id = `r${createHash('sha1').update(says).digest('base64url')}`;
    const bytes = Buffer.from(eventOf('ranking', id, json));
    followed.told = { id, bytes, store, made: { ...made, value: null } };
  }

  async function look(question: string, followed: Followed): Promise<void> {
    const { clients: all, newcomers, told } = followed;
    const isForAll = now() - followed.lookedAt >= EVERY_MS;
    if (!isForAll && newcomers.size === 0) return;
    if (isForAll) followed.lookedAt = now();
    let whom: StreamClient[] = [];
    try {
      if (!holds(told)) await makeAnew(question, followed);
    } finally {
      // Clients that come from here on may have read what is newer. If making it failed, newcomers wait as all others.
      whom = [...(isForAll ? all.keys() : newcomers)];
      newcomers.clear();
    }
    await eachYielding(whom, (client) => tell(client, followed), TOLD_AT_ONCE);
  }

  const ticker = createTicker({
    everyMs: NEW_EVERY_MS,
    wanted: () => questions.size > 0,
    tick: async () => {
      for (const [question, followed] of questions) {
        // A question that fails keeps no client from the others.
        await look(question, followed).catch(onError);
        // All questions that may be followed take a tenth of a second: other work does not wait for all of them.
        await whatElseCame();
      }
    },
    onError,
  });

  const refusalFor = (address: string): 'busy' | 'too many of this address' | null => {
    const filtered = [...questions.values()].filter(({ isFiltered }) => isFiltered);
    const own = filtered.filter((one) => one.address === address);
    if (own.length >= MOST_FILTERED_OF_ADDRESS) return 'too many of this address';
    return filtered.length >= MOST_FILTERED ? 'busy' : null;
  };

  return {
    subscribe: (address: string, question: string, lastId: string | null) => {
      const isFiltered = [...new URLSearchParams(question).keys()].some((name) => !UNFILTERED.has(name));
      const refusal = isFiltered && !questions.has(question) ? refusalFor(address) : null;
      if (refusal !== null) return refusal;
      const client = clients.open(address);
      if (typeof client === 'string') return client;
      const followed = questions.get(question) ?? {
        ...{ clients: new Map(), newcomers: new Set(), lookedAt: Number.NEGATIVE_INFINITY },
        ...{ isFiltered, address, told: null },
      };
      questions.set(question, followed);
      client.body.once('close', () => {
        followed.clients.delete(client);
        followed.newcomers.delete(client);
        if (followed.clients.size === 0) questions.delete(question);
      });
      const isKnown = lastId !== null && ID.test(lastId);
      followed.clients.set(client, isKnown ? lastId : null);
      // An id that is none of ours is not repeated: it may hold lines of a stream.
      client.write(beginText(isKnown ? lastId : null));
      if (lastId !== null && !isKnown)
        client.send({
          event: 'gap',
          data: { reason: 'the position is not known here', read: `/rankings?${question}` },
        });
      // The client may have read what is newer than the ranking that was last sent.
      if (holds(followed.told)) tell(client, followed);
      else followed.newcomers.add(client);
      ticker.wake();
      return client.body;
    },
  };
}
