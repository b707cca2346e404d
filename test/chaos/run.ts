import { setTimeout as pause } from 'node:timers/promises';
import { createKafkaClient } from '../../ingest/log/kafka/client.ts';
import { topicName } from '../../ingest/log/kafka/topics.ts';
import { createLogger } from '../../runtime/process/log.ts';
import { beginFault, expectTold } from './faults.ts';
import { eventually, missingOf } from './look/ask.ts';
import { expectExact } from './look/exact.ts';
import { createMemory, observe } from './look/observer.ts';
import { type Planned, wordsOf } from './plan.ts';
import { startServers } from './system/servers.ts';
import { openStage, type Stage } from './system/stage.ts';
import { createWorld } from './system/world.ts';

export interface ChaosOptions {
  seed: string;
  policies: number;
  /** Actions a slot, on average. */
  rate: number;
  plan: readonly Planned[];
  /** Directory for logs; it must exist. */
  directory: string;
  say(line: string): void;
}

export interface ChaosResult {
  /** Everything that was wrong, other than the answers at the end. */
  problems: string[];
  /** How often a figure was seen again once the faults had begun. */
  compared: number;
  /** The most memory that each process held, in bytes. */
  memory: Map<string, number>;
}

/** How many figures the observing reader must have seen before the first fault. */
const FIGURES = 20;
const EXACT_MS = 120_000;

/**
 * Runs the whole system on real servers while a plan of faults is carried out. After the faults the chain rests, and
 * every answer of every API is compared with the chain.
 * @throws AssertionError with the first answer that differs
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, policies, rate, plan, directory, say } = options;
  const world = await createWorld({ seed, policies, rate, historySlots: 200, retentionSlots: 150 });
  const servers = await startServers({ brokers: 3, geyserPort: world.geyserPort });
  let stage: Stage | null = null;
  try {
    stage = await openStage({ world, servers, directory, name: 'chaos', partitions: 4, apis: 2 });
    await stage.add('materialise-1', 'ingest/commands/materialise.ts');
    await stage.add('materialise-2', 'ingest/commands/materialise.ts');
    const rest = world.live();
    await everyoneReady(stage);
    say('everything is ready');
    const stop = new AbortController();
    const memory = createMemory();
    const observing = observe(stage, memory, stop.signal);
    await eventually('figures are served', () => memory.figures() >= FIGURES);
    say('figures are served');
    const comparedBefore = memory.compared();
    const problems = await carryOut(stage, plan, say);
    say('the faults are over');
    await everyoneReady(stage).catch((error: Error) => problems.push(error.message));
    say('everything is ready again');
    await rest();
    stop.abort();
    problems.push(...(await observing));
    await expectExact(stage, EXACT_MS);
    say('every answer is exact');
    // Spoilt updates leave dead letters for good. That none of them waits for a decoder was compared with the answers.
    const isSpoilt = ({ fault }: Planned) => fault.kind === 'stream' && fault.brings === 'spoilt';
    if (!plan.some(isSpoilt)) problems.push(...(await deadLetters(stage)));
    for (const { crashes } of stage.actors.values()) problems.push(...crashes);
    problems.push(...(await stopInSilence(stage)));
    say('everything has stopped');
    return {
      problems,
      compared: memory.compared() - comparedBefore,
      memory: new Map([...stage.actors].map(([name, actor]) => [name, actor.mostBytes()])),
    };
  } finally {
    await stage?.close();
    await servers.close();
    await world.close();
  }
}

/** Begins and heals every fault at its time. @returns what was wrong */
async function carryOut(
  stage: Stage,
  plan: readonly Planned[],
  say: (line: string) => void,
): Promise<string[]> {
  const began = performance.now();
  const problems: string[] = [];
  const one = async (planned: Planned) => {
    const { fault, atMs, forMs } = planned;
    await pause(Math.max(0, began + atMs - performance.now()));
    say(wordsOf(planned));
    const heal = await beginFault(stage, fault);
    const begun = performance.now();
    await expectTold(stage, fault, forMs).catch((error: Error) => problems.push(error.message));
    await pause(Math.max(0, begun + forMs - performance.now()));
    await heal();
  };
  const outcomes = await Promise.allSettled(plan.map(one));
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') problems.push(String((outcome.reason as Error)?.stack));
  return problems;
}

async function everyoneReady({ actors }: Stage): Promise<void> {
  const running = [...actors.values()].filter((actor) => actor.running());
  let states: string[] = [];
  const allReady = async () => {
    const missing = await Promise.all(running.map(missingOf));
    states = running.flatMap(({ name }, at) =>
      missing[at]?.length === 0 ? [] : [`${name}: ${missing[at]}`],
    );
    return states.length === 0;
  };
  await eventually('every process is ready', allReady).catch((error: Error) => {
    throw new Error(`${error.message} (${states.join('; ')})`);
  });
}

/** Has every process stop in order while neither brokers nor the engine answer. @returns what was wrong */
async function stopInSilence({ actors, servers }: Stage): Promise<string[]> {
  const problems: string[] = [];
  for (const node of servers.kafka.nodes) node.signal('SIGSTOP');
  servers.engine.freeze();
  const running = [...actors.values()].filter((actor) => actor.running());
  await Promise.all(
    running.map((actor) => actor.stop().catch((error: Error) => problems.push(error.message))),
  );
  return problems;
}

/** Reports the dead letters in the log, a line for each partition that has any. */
async function deadLetters({ servers, prefix }: Stage): Promise<string[]> {
  const settings = { brokers: servers.kafka.brokers, tls: false, sasl: null, clientId: 'chaos' };
  const client = createKafkaClient(settings, createLogger('silent', 'chaos'));
  try {
    const places = await client.offsets(topicName(prefix, 'dead-letters'));
    return places.flatMap(({ partition, low, high }) =>
      low === high ? [] : [`${high - low} dead letters in partition ${partition}`],
    );
  } finally {
    await client.close();
  }
}
