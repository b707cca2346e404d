import { expect, test } from 'vitest';
import { openKafka } from '../../../ingest/log/kafka/open.ts';
import { readConfig } from '../../../runtime/config/config.ts';
import { ConfigError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/process/log.ts';

const KAFKA_SASL_MECHANISM = 'plain';
const KAFKA_SASL_USERNAME = 'user';
const KAFKA_SASL_PASSWORD = 'mark';

test.each([
  [['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_PASSWORD'], { KAFKA_SASL_USERNAME }],
  [['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME'], { KAFKA_SASL_PASSWORD }],
  [['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'], { KAFKA_SASL_MECHANISM }],
  [['KAFKA_SASL_MECHANISM'], { KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD }],
  [['KAFKA_SASL_USERNAME'], { KAFKA_SASL_MECHANISM, KAFKA_SASL_PASSWORD }],
  [['KAFKA_SASL_PASSWORD'], { KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME }],
])('an incomplete Kafka login without %j is an error that names all of it', (missing, given) => {
  const config = readConfig({ KAFKA_BROKERS: '127.0.0.1:1', ...given });
  const open = () => openKafka(config, createLogger('silent', 'test'));
  const [set] = Object.keys(given);
  expect(open).toThrow(
    new ConfigError(missing.map((name) => `${name} is not set: ${set} needs it`).join('; ')),
  );
});
