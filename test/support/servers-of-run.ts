import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inject } from 'vitest';
import { type Advertise, type Cluster, prepareKafka, startKafka } from './kafka.ts';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL at which test files ask for the servers that they share. */
    serversUrl: string;
  }
}

type What = '/kafka-prepared' | '/brokers' | '/login-brokers' | '/postgres';

/** Offers one broker and one Postgres for the whole run, each started when the first test file asks for it. */
export async function offerServers(): Promise<{ url: string; close(): Promise<void> }> {
  const prepared = ofRun(prepareKafka);
  const kafka = ofRun(async () => {
    await prepared.made();
    return startKafka();
  });
  const postgres = ofRun(startPostgres);
  const answers: Record<What, () => Promise<unknown>> = {
    '/kafka-prepared': async () => {
      await prepared.made();
      return null;
    },
    '/brokers': async () => (await kafka.made()).brokers,
    '/login-brokers': async () => (await kafka.made()).loginBrokers,
    '/postgres': async () => (await postgres.made()).freshUrl(),
  };
  const server = createServer(async ({ url }, response) => {
    try {
      response.end(JSON.stringify(await answers[url as What]()));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      const started = await Promise.allSettled([kafka.known(), postgres.known()]);
      for (const one of started) if (one.status === 'fulfilled') await one.value?.stop();
    },
  };
}

/** Makes something once, when it is first asked for; where that fails, the next caller tries again. */
function ofRun<T>(make: () => Promise<T>): { made(): Promise<T>; known(): Promise<T> | null } {
  let known: Promise<T> | null = null;
  return {
    made: () => {
      known ??= make().catch((error: unknown) => {
        known = null;
        throw error;
      });
      return known;
    },
    known: () => known,
  };
}

async function ask<T>(what: What): Promise<T> {
  const response = await fetch(`${inject('serversUrl')}${what}`);
  if (!response.ok) throw new Error(`${what} of this run: ${await response.text()}`);
  return (await response.json()) as T;
}

/** KAFKA_BROKERS, or the run's broker. Other files use it too: give topics and groups names of their own. */
export async function sharedBrokers(): Promise<string[]> {
  return process.env.KAFKA_BROKERS?.split(',') ?? (await ask<string[]>('/brokers'));
}

/** The run's broker, at the port that requires a login; null with KAFKA_BROKERS, whose logins are not known. */
export async function loginBrokers(): Promise<string[] | null> {
  return process.env.KAFKA_BROKERS === undefined ? ask<string[]>('/login-brokers') : null;
}

/** Brokers for one test file alone, which may harm them. */
export async function ownBrokers(count: number, advertise?: Advertise): Promise<Cluster> {
  // The run prepares Kafka: several files side by side would each do all of it.
  await ask('/kafka-prepared');
  return startKafka(count, advertise);
}

/** The URL of a new, empty database on the run's Postgres. */
export const freshPostgresUrl = (): Promise<string> => ask<string>('/postgres');
