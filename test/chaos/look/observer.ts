import { setTimeout as pause } from 'node:timers/promises';
import { portOf, type Stage } from '../system/stage.ts';
import { type Answer, ask } from './ask.ts';
import { figuresIn } from './figures.ts';

/** Seldom enough: a figure that goes back stays so for as long as a process is away. */
const EVERY_MS = 200;
const COINS = 5;
/** Reasons that an API gives where its store is away; any other failure is a problem. */
const STORE_IS_AWAY =
  /\b(ECONN\w+|EPIPE)\b|socket hang up|not connected yet|store has not answered|[Tt]imeout/;

/** What one reader has been answered so far. */
export interface Memory {
  /** What was wrong: a figure that went back though it cannot, or an error without a good reason. */
  problems: Set<string>;
  /** How many figures were seen so far. */
  figures(): number;
  /** How often a figure was seen again and compared. */
  compared(): number;
  take(route: string, answer: Answer): void;
}

/** Compares what one reader is answered with what it was answered before. */
export function createMemory(): Memory {
  const highest = new Map<string, bigint>();
  const problems = new Set<string>();
  let compared = 0;
  return {
    problems,
    figures: () => highest.size,
    compared: () => compared,
    take: (route: string, { status, body }: Answer) => {
      if (status === 200) {
        for (const [name, value] of figuresIn(route, body)) {
          const before = highest.get(name);
          if (before !== undefined) compared += 1;
          if (before !== undefined && value < before)
            problems.add(`${name} went from ${before} back to ${value}`);
          else highest.set(name, value);
        }
        return;
      }
      // 404 is right for a policy that is on the chain and not served yet.
      const isKnown = [...highest.keys()].some((name) => name.startsWith(`${route} `));
      const isExcused = status >= 500 && STORE_IS_AWAY.test(String(body.detail ?? body.error));
      if (!isExcused && (status !== 404 || isKnown))
        problems.add(`${route} answered ${status} ${JSON.stringify(body)}`);
    },
  };
}

/** Reads one API until the signal, and measures every process's memory meanwhile. @returns the problems */
export async function observe(stage: Stage, memory: Memory, signal: AbortSignal): Promise<string[]> {
  const [api] = stage.apis;
  if (api === undefined) throw new Error('there is no API to observe');
  for (let round = 0; !signal.aborted; round += 1) {
    const mints = [...stage.world.chain.state().policies.values()].slice(0, COINS).map(({ mint }) => mint);
    const mint = mints[round % Math.max(1, mints.length)];
    const coin = mint === undefined ? [] : [`/coins/${mint}`, `/coins/${mint}/loop`, `/coins/${mint}/fees`];
    for (const route of ['/status', '/analytics', ...coin]) {
      const answer = await ask(api, route);
      if (answer !== null) memory.take(route, answer);
    }
    for (const actor of stage.actors.values()) actor.look();
    await pause(EVERY_MS);
  }
  const where = `${api.name} on port ${portOf(api)}`;
  return [...memory.problems].map((what) => `${where}: ${what}`);
}
