import { NO_LIMITS, readModes } from '../../devnet/geyser/modes.ts';
import { createRandom } from '../../devnet/program/state/random.ts';
import { mannersNamed, POLITE, type RpcMannersName } from '../../devnet/rpc/manners.ts';
import type { Broker } from '../support/kafka.ts';
import { eventually, missingOf } from './look/ask.ts';
import type { Fault, Place } from './plan.ts';
import type { TcpProxy } from './system/proxy.ts';
import type { Stage } from './system/stage.ts';

/** Ends a fault. */
export type Heal = () => Promise<void>;

type Begin<K extends Fault['kind']> = (stage: Stage, fault: Extract<Fault, { kind: K }>) => Promise<Heal>;

const MATERIALISE = 'ingest/commands/materialise.ts';
const nothing: Heal = async () => {};

const BEGIN: { [K in Fault['kind']]: Begin<K> } = {
  kill: async (stage, { who }) => {
    const actor = stage.actor(who);
    await actor.kill();
    return async () => actor.start();
  },
  freeze: async (stage, { who }) => {
    const actor = stage.actor(who);
    actor.signal('SIGSTOP');
    return async () => actor.signal('SIGCONT');
  },
  rebalance: async (stage) => {
    const third = stage.actors.get('materialise-3');
    if (third === undefined) await stage.add('materialise-3', MATERIALISE);
    else {
      await eventually('materialise-3 has ended', () => !third.running());
      third.start();
    }
    return async () => {
      const added = stage.actor('materialise-3');
      // A process that has not begun to run cannot end in order yet.
      await eventually('materialise-3 runs', async () => (await missingOf(added)) !== null);
      await added.stop();
    };
  },
  'kill-broker': async (stage, { broker }) => {
    const node = brokerOf(stage, broker);
    node.signal('SIGKILL');
    return () => node.restart();
  },
  'freeze-broker': async (stage, { broker }) => {
    const node = brokerOf(stage, broker);
    node.signal('SIGSTOP');
    return async () => node.signal('SIGCONT');
  },
  'kill-clickhouse': async ({ servers }) => {
    await servers.engine.kill();
    return () => servers.engine.restart();
  },
  'kill-postgres': async ({ servers }) => {
    await servers.postgres.crash();
    return nothing;
  },
  'refuse-clickhouse': async ({ servers }) => {
    servers.proxies.clickhouse.refuse();
    return async () => servers.proxies.clickhouse.restore();
  },
  cut: async (stage, { place }) => {
    proxyOf(stage, place).cut();
    return nothing;
  },
  provider: async ({ world }, { modes }) => {
    world.become(readModes(modes));
    return async () => world.become(NO_LIMITS);
  },
  node: async ({ world }, { manners }) => {
    world.node.behave(mannersNamed(manners.split(',').filter((name) => name !== '') as RpcMannersName[]));
    return async () => world.node.behave(POLITE);
  },
  stream: async ({ world }, { brings, seed }) => {
    const random = createRandom(seed);
    const fault = brings === 'oddities' ? world.stream.sendOddities : world.stream.spoil;
    fault(() => random.next());
    return async () => fault(null);
  },
  delay: async (stage, { place, millis }) => {
    proxyOf(stage, place).delay(millis);
    return async () => proxyOf(stage, place).restore();
  },
};

export const beginFault = (stage: Stage, fault: Fault): Promise<Heal> =>
  (BEGIN[fault.kind] as Begin<Fault['kind']>)(stage, fault);

/** How long /ready may take to show a missing server: probes run once a second and time out after two. */
const TOLD_WITHIN_MS = 6_000;

/**
 * Checks that a process says under `/ready` that ClickHouse is away, and prolongs the fault until one does; only for
 * faults that are planned to last long enough.
 * @throws Error where none ever does
 */
export async function expectTold(stage: Stage, fault: Fault, forMs: number): Promise<void> {
  const isAway = fault.kind === 'kill-clickhouse' || fault.kind === 'refuse-clickhouse';
  if (!isAway || forMs < TOLD_WITHIN_MS) return;
  await eventually('a process says under /ready that ClickHouse is missing', async () => {
    const missing = await Promise.all([...stage.actors.values()].map(missingOf));
    return missing.some((names) => names?.includes('ClickHouse'));
  });
}

function brokerOf({ servers }: Stage, at: number): Broker {
  return servers.kafka.nodes[at] as Broker;
}

function proxyOf({ servers: { proxies } }: Stage, place: Place): TcpProxy {
  return typeof place === 'number' ? (proxies.brokers[place] as TcpProxy) : proxies[place];
}
