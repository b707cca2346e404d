import type { Context, Next } from 'koa';
import { createLru } from '../../runtime/lru.ts';
import type { Latest } from '../latest/latest.ts';
import { matchesEtag, sendKept } from './answers/answers.ts';
import type { Answer } from './answers/forms.ts';
import type { PackedAnswers } from './answers/packed-answers.ts';
import { stateOf } from './answers/request-state.ts';
import type { SendBacklog } from './answers/send-backlog.ts';
import type { SharedAnswers } from './answers/shared-answers.ts';
import type { Reporting } from './middleware.ts';
import type { Turns } from './turns/turns.ts';

/** What a request with the same target is answered from. */
interface KeptTarget {
  database: string;
  key: string;
  /** As it stands in the table of routes. */
  path: string;
}

/**
 * Answers a request whose very target was asked for before and whose answer is kept, before any routing: the way
 * through all middleware costs more than such an answer. Any other request goes on to the next middleware in the same
 * turn: `startedAt`, and `chargeThread` or the `refusal` of a turn, are in the state of its context.
 */
export interface KeptTargets {
  answer(ctx: Context, next: Next): Promise<void>;
  /** Notes that this target was answered with `answer`, by a route whose answers are shared. */
  note(target: string, answer: Answer, kept: KeptTarget): void;
}

export interface KeptTargetsParts {
  latest: Latest;
  shared: SharedAnswers;
  packed: PackedAnswers;
  turns: Turns;
  backlog: SendBacklog;
  addressOf(ctx: Context): string;
  /** Header fields of every answer, names and values in turns. */
  commonHeaders: readonly string[];
  reporting: Reporting;
}

const MOST = 16_384;
/** Longer targets are not kept: hardly anybody asks for one twice. */
const LONGEST = 256;

export function createKeptTargets(parts: KeptTargetsParts): KeptTargets {
  const { latest, shared, packed, turns, backlog, addressOf, commonHeaders, reporting } = parts;
  const targets = createLru<KeptTarget>(MOST);

  const sendNow = (ctx: Context, { database, key }: KeptTarget, address: string): number | null => {
    // While the store is silent, answers need an Age field: they are made elsewhere.
    if (database !== latest.currentStore().database || latest.age() >= 1000) return null;
    const answer = shared.kept(key);
    if (answer?.status !== 200 || answer.rest !== undefined || ctx.req.socket.destroyed) return null;
    const isKnown = matchesEtag(ctx, answer);
    const form = packed.formFor(answer, ctx.get('Accept-Encoding'), isKnown);
    if (form instanceof Promise) {
      // The middleware behind this waits for the same packing, and gets its error.
      form.catch(() => {});
      return null;
    }
    if (!isKnown) backlog.note(address, ctx.res, form);
    sendKept(ctx, form, isKnown, commonHeaders);
    return isKnown ? 0 : form.bytes.length;
  };

  return {
    answer: async (ctx, next) => {
      const { req, res } = ctx;
      const target = req.method === 'GET' ? targets.get(req.url ?? '') : undefined;
      if (target === undefined) return next();
      const startedAt = performance.now();
      const address = addressOf(ctx);
      let isPassedOn = false;
      try {
        await turns(address, async (chargeThread) => {
          const sent = sendNow(ctx, target, address);
          if (sent !== null) return sent;
          isPassedOn = true;
          const state = stateOf(ctx);
          state.startedAt = startedAt;
          state.chargeThread = chargeThread;
          await next();
          return ctx.length ?? 0;
        });
      } catch (error) {
        if (isPassedOn) throw error;
        const state = stateOf(ctx);
        state.startedAt = startedAt;
        state.refusal = error;
        return next();
      }
      if (isPassedOn) return;
      reporting.onAnswered?.('GET', target.path, res.statusCode, (performance.now() - startedAt) / 1000);
    },
    note: (target, answer, kept) => {
      if (answer.status === 200 && answer.rest === undefined && target.length <= LONGEST)
        targets.set(target, kept);
    },
  };
}
