import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

const LIBRARIES = path.resolve(import.meta.dirname, '../../node_modules/.cache/kafka-broker');
/** The JVM's archive of the broker's classes: with it a broker starts in half the time. */
const CLASSES = path.join(LIBRARIES, 'classes.jsa');
/** The accounts of the local chain's deployment. */
const LOGINS = path.resolve(import.meta.dirname, '../../deploy/devnet-secrets/kafka-jaas');
const POM = path.join(import.meta.dirname, 'kafka-pom.xml');
/** Waits before the jars are fetched again. */
const FETCH_RESTS_MS = [5_000, 20_000];

/** Why no broker can be started here, or null. In CI a missing broker is a failure, never a skip. */
export function brokerMissing(): string | null {
  if (process.env.KAFKA_BROKERS !== undefined || process.env.CI !== undefined) return null;
  const has = (command: string, flag: string) => spawnSync(command, [flag], { stdio: 'ignore' }).status === 0;
  return has('java', '-version') && has('mvn', '--version')
    ? null
    : 'needs Java 17 with Maven, or KAFKA_BROKERS: neither is here';
}

/** Fetches Kafka's published jars and makes the archive of its classes; both are kept between runs. */
export async function prepareKafka(): Promise<void> {
  if (!existsSync(LIBRARIES)) {
    const fresh = `${LIBRARIES}.${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    await fetchLibraries(fresh);
    try {
      renameSync(fresh, LIBRARIES);
    } catch {
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  if (!existsSync(CLASSES)) {
    const fresh = `${CLASSES}.${process.pid}`;
    const { nodes, stop } = await launchCluster(1, ownPort, [`-XX:ArchiveClassesAtExit=${fresh}`]);
    await Promise.all(nodes.map(({ child, ended }) => child().kill('SIGTERM') && ended()));
    await stop();
    renameSync(fresh, CLASSES);
  }
}

/** Retries, as Maven's repository is sometimes away for a moment, and no test with brokers runs without the jars. */
async function fetchLibraries(directory: string): Promise<void> {
  const args = ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  for (let failures = 0; ; failures += 1) {
    // Maven remembers failed downloads: -U has it try them again.
    const again = failures === 0 ? [] : ['-U'];
    try {
      await run('mvn', [...args, ...again, `-DoutputDirectory=${directory}`]);
      return;
    } catch (error) {
      if (failures === FETCH_RESTS_MS.length) throw error;
      await pause(FETCH_RESTS_MS[failures]);
    }
  }
}

const classpath = (): string =>
  readdirSync(LIBRARIES)
    .filter((file) => file.endsWith('.jar'))
    .map((jar) => path.join(LIBRARIES, jar))
    .join(':');

export interface Broker {
  id: number;
  port: number;
  /** SIGKILL, SIGSTOP, SIGCONT … to the broker's process. */
  signal(name: NodeJS.Signals): void;
  /** Starts it again on the same data after a kill. */
  restart(): Promise<void>;
}

export interface Cluster {
  brokers: string[];
  /** The same brokers where they ask for a login, one of the deployment of the local chain. */
  loginBrokers: string[];
  nodes: Broker[];
  stop(): Promise<void>;
}

const LOG4J = `<Configuration status="OFF"><Appenders><Console name="C"><PatternLayout pattern="%d %p %m%n"/></Console></Appenders><Loggers><Root level="WARN"><AppenderRef ref="C"/></Root></Loggers></Configuration>`;

const JVM = ['-Xmx192m', '-Xss512k', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-XX:-UsePerfData'];

/** Maps a port that a broker listens on to the one that clients are told to use. */
export type Advertise = (port: number) => Promise<number>;

const ownPort: Advertise = async (port) => port;

/** A real Apache Kafka in KRaft mode with `count` nodes, each broker and controller, on free ports. */
export async function startKafka(count = 1, advertise = ownPort): Promise<Cluster> {
  await prepareKafka();
  return launchCluster(count, advertise, []);
}

interface LaunchedCluster extends Cluster {
  nodes: (Broker & { child(): ChildProcess; ended(): Promise<void> })[];
}

async function launchCluster(
  count: number,
  advertise: Advertise,
  flags: readonly string[],
): Promise<LaunchedCluster> {
  const directory = mkdtempSync(path.join(tmpdir(), 'kafka-'));
  const log4j = path.join(directory, 'log4j2.xml');
  writeFileSync(log4j, LOG4J);
  const clusterId = randomBytes(16).toString('base64url');
  const plans = [];
  for (let id = 1; id <= count; id += 1) {
    const clients = await freePort();
    const advertised = await advertise(clients);
    const [port, controller, logins] = [await freePort(), await freePort(), await freePort()];
    plans.push({ id, port, controller, logins, clients, advertised });
  }
  const voters = plans.map((plan) => `${plan.id}@127.0.0.1:${plan.controller}`).join(',');
  const jars = classpath();
  const sharedClasses = existsSync(CLASSES) ? [`-XX:SharedArchiveFile=${CLASSES}`] : [];
  const java = (main: string, args: string[]) => [
    '-cp',
    jars,
    `-Dlog4j2.configurationFile=${log4j}`,
    `-Djava.security.auth.login.config=${LOGINS}`,
    ...JVM,
    ...sharedClasses,
    main,
    ...args,
  ];

  const nodes: LaunchedCluster['nodes'] = [];
  const begun: Promise<void>[] = [];
  for (const plan of plans) {
    const home = path.join(directory, String(plan.id));
    mkdirSync(home);
    // Write what the broker's format tool would write: the tool needs the start of another JVM.
    const data = path.join(home, 'data');
    mkdirSync(data);
    writeFileSync(
      path.join(data, 'meta.properties'),
      `version=1\ncluster.id=${clusterId}\nnode.id=${plan.id}\ndirectory.id=${randomBytes(16).toString('base64url')}\n`,
    );
    const properties = path.join(home, 'server.properties');
    writeFileSync(properties, serverProperties({ ...plan, voters, count, data }));
    const launch = () => spawn('java', [...flags, ...java('kafka.Kafka', [properties])], { stdio: 'ignore' });
    let child = launch();
    begun.push(listening(plan.clients, child));
    const ended = async () => {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    };
    nodes.push({
      id: plan.id,
      port: plan.port,
      child: () => child,
      ended,
      signal: (name) => void child.kill(name),
      restart: async () => {
        child.kill('SIGKILL');
        await ended();
        child = launch();
        await listening(plan.clients, child);
      },
    });
  }
  await Promise.all(begun).catch((error) => {
    for (const { signal } of nodes) signal('SIGKILL');
    throw error;
  });

  return {
    brokers: plans.map((plan) => `127.0.0.1:${plan.advertised}`),
    loginBrokers: plans.map((plan) => `127.0.0.1:${plan.logins}`),
    nodes,
    stop: async () => {
      for (const { child, ended } of nodes) {
        child().kill('SIGCONT');
        child().kill('SIGKILL');
        await ended();
      }
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function serverProperties(node: {
  id: number;
  port: number;
  controller: number;
  logins: number;
  clients: number;
  advertised: number;
  voters: string;
  count: number;
  data: string;
}): string {
  const replicas = Math.min(3, node.count);
  return Object.entries({
    'process.roles': 'broker,controller',
    'node.id': node.id,
    'controller.quorum.voters': node.voters,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${node.port},CLIENTS://127.0.0.1:${node.clients},LOGINS://127.0.0.1:${node.logins},CONTROLLER://127.0.0.1:${node.controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${node.port},CLIENTS://127.0.0.1:${node.advertised},LOGINS://127.0.0.1:${node.logins}`,
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,CLIENTS:PLAINTEXT,LOGINS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
    'sasl.enabled.mechanisms': 'PLAIN',
    // A client without a login may do everything, one with a login everything but what has ACLs that leave it out.
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:ANONYMOUS',
    'allow.everyone.if.no.acl.found': true,
    'inter.broker.listener.name': 'PLAINTEXT',
    'log.dirs': node.data,
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': Math.min(2, replicas),
    'min.insync.replicas': Math.min(2, replicas),
    'group.initial.rebalance.delay.ms': 0,
    'log.cleaner.dedupe.buffer.size': 4_194_304,
    'auto.create.topics.enable': false,
    'num.network.threads': 2,
    'num.io.threads': 2,
    // No idle records: two a second, written and synced by every node, are half of what an idle broker costs.
    'metadata.max.idle.interval.ms': 0,
  })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** Far longer than a broker takes to start, however loaded the machine is. */
const LISTENING_WITHIN_MS = 300_000;

/** Resolves once the port accepts connections. @throws Error where its broker has ended, or after the limit */
async function listening(port: number, broker: ChildProcess): Promise<void> {
  const deadline = Date.now() + LISTENING_WITHIN_MS;
  while (Date.now() < deadline) {
    if (broker.exitCode !== null || broker.signalCode !== null)
      throw new Error(`the broker of port ${port} ended with ${broker.exitCode ?? broker.signalCode}`);
    const open = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (open) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no broker is listening on port ${port} after ${LISTENING_WITHIN_MS / 1000} s`);
}
