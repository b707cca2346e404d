import { type Get, UNPACKED } from '../../scenarios/compare.ts';
import { inTime } from '../../scenarios/late.ts';
import { awaited, PATIENCE_MS } from '../../support/awaited.ts';
import type { Actor } from '../system/actor.ts';
import { portOf } from '../system/stage.ts';

const ANSWER_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 500;

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** An API's answer; null where it does not answer at all. */
export async function ask(api: Actor, route: string, withinMs = ANSWER_WITHIN_MS): Promise<Answer | null> {
  try {
    const signal = AbortSignal.timeout(withinMs);
    const response = await fetch(`http://127.0.0.1:${portOf(api)}${route}`, { signal, headers: UNPACKED });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return null;
  }
}

/** An API's routes for the comparison with the oracle: any status but 200 is an error. */
export const getterOf =
  (api: Actor): Get =>
  async (route) => {
    const answer = await inTime(() => ask(api, route));
    if (answer?.status === 200) return answer.body;
    throw new Error(`${api.name} ${route} answers ${answer?.status}: ${JSON.stringify(answer?.body)}`);
  };

/** What `/ready` says is missing; null where it does not answer. */
export async function missingOf(actor: Actor): Promise<string[] | null> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(`http://127.0.0.1:${actor.env.METRICS_PORT}/ready`, { signal });
    return ((await answer.json()) as { missing: string[] }).missing;
  } catch {
    return null;
  }
}

/** Resolves once `so` holds. @throws Error that names `what`, where it never does */
export const eventually = (what: string, so: () => boolean | Promise<boolean>): Promise<void> =>
  awaited(async () => {
    if (!(await so())) throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
  }, LOOK_EVERY_MS);
