import type { Config } from '../../../runtime/config/config.ts';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { openKafka } from '../../log/kafka/open.ts';

/** Logs in as the processes do and asks who is in the cluster. */
export async function logIn(config: Config, signal: AbortSignal): Promise<string> {
  const client = openKafka(config, createLogger('silent', 'doctor'));
  try {
    const late = aborted(signal).then(() => Promise.reject(new Error('no login in time')));
    const brokers = await Promise.race([client.brokerCount(), late]);
    const login = config.kafkaSaslMechanism === null ? 'without a login' : `by ${config.kafkaSaslMechanism}`;
    return `a cluster of ${brokers}, entered ${login}`;
  } finally {
    void client.close().catch(() => undefined);
  }
}
