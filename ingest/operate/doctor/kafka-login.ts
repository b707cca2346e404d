import type { Config } from '../../../runtime/config/config.ts';
import { aborted } from '../../../runtime/process/lifecycle.ts';
import { createLogger } from '../../../runtime/process/log.ts';
import { openKafka } from '../../log/kafka/open.ts';
import { retentionMismatches } from '../../log/kafka/topics.ts';
import { type Finding, note } from './finding.ts';
import { canReadLog, type LogReading } from './kafka-rights.ts';

/** Logs in as the processes do, asks who is in the cluster and how the topics of the log are kept, and reads of the log. */
export async function logIn(config: Config, signal: AbortSignal): Promise<Finding[]> {
  const client = openKafka(config, createLogger('silent', 'doctor'));
  try {
    const late = aborted(signal).then(() => Promise.reject(new Error('no login in time')));
    const brokers = await Promise.race([client.brokerCount(), late]);
    const login = config.kafkaSaslMechanism === null ? 'without a login' : `by ${config.kafkaSaslMechanism}`;
    const entered = `a cluster of ${brokers}, entered ${login}`;
    const prefix = config.kafkaTopicPrefix;
    const settings = { prefix, retentionMs: config.kafkaRetentionMs };
    // A login that may not ask for settings of topics gets no finding on them.
    const otherwise = await Promise.race([retentionMismatches(client, settings), late]).catch(() => []);
    const reading = await canReadLog(client, prefix, signal);
    const [words, ...more] = told(reading, prefix);
    return [{ mark: 'ok', text: `${entered}${words}` }, ...[...more, ...otherwise].map(note)];
  } finally {
    void client.close().catch(() => undefined);
  }
}

/** The end of the line on the login, and then lines of their own. */
function told(reading: LogReading, prefix: string): [string, ...string[]] {
  if (reading === 'read') return [', its log can be read'];
  if (reading === 'empty')
    return ['', 'its log has no record yet: whether it can be read shows with the first'];
  if (reading === 'late')
    return ['', 'no record of its log came in time: whether it can be read is not known'];
  return [
    '',
    `it does not show all topics of the log (${prefix}-…): run npm run migrate, or give the login the rights that docs/operations.md names`,
  ];
}
