import type { Config } from '../../../runtime/config/config.ts';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { openKafka } from '../../log/kafka/open.ts';
import { keptOtherwise } from '../../log/kafka/topics.ts';

/** Logs in as the processes do and asks who is in the cluster, and how the topics of the log that are there are kept. */
export async function logIn(
  config: Config,
  signal: AbortSignal,
): Promise<{ cluster: string; otherwise: string[] }> {
  const client = openKafka(config, createLogger('silent', 'doctor'));
  try {
    const late = aborted(signal).then(() => Promise.reject(new Error('no login in time')));
    const brokers = await Promise.race([client.brokerCount(), late]);
    const login = config.kafkaSaslMechanism === null ? 'without a login' : `by ${config.kafkaSaslMechanism}`;
    const settings = { prefix: config.kafkaTopicPrefix, retentionMs: config.kafkaRetentionMs };
    // Who is let in and may not ask this is not told of it.
    const otherwise = await Promise.race([keptOtherwise(client, settings), late]).catch(() => []);
    return { cluster: `a cluster of ${brokers}, entered ${login}`, otherwise };
  } finally {
    void client.close().catch(() => undefined);
  }
}
