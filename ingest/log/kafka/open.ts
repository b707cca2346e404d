import { type Config, required } from '../../../runtime/config/config.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { decodeKey } from '../../../schemas/solana/base58.ts';
import { createKafkaClient } from './client.ts';
import type { KafkaClient, KafkaSettings } from './cluster.ts';

/** The cluster that the configuration names. @throws ConfigError where it names none, or a login without its parts */
export function openKafka(config: Config, logger: Logger): KafkaClient {
  return createKafkaClient(kafkaSettings(config), logger);
}

function kafkaSettings(config: Config): KafkaSettings {
  return {
    brokers: required(config.kafkaBrokers, 'KAFKA_BROKERS', 'the log is kept there'),
    tls: config.kafkaTls,
    sasl: loginOf(config),
    clientId: config.serviceName,
    program: decodeKey(config.programId),
  };
}

/** Null where nothing of a login is set. */
function loginOf(config: Config): KafkaSettings['sasl'] {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUsername: username, kafkaSaslPassword: password } = config;
  if (mechanism === null && username === null && password === null) return null;
  const set = username === null ? 'KAFKA_SASL_PASSWORD' : 'KAFKA_SASL_USERNAME';
  return {
    mechanism: required(mechanism, 'KAFKA_SASL_MECHANISM', `${set} needs it`),
    username: required(username, 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_MECHANISM needs it'),
    password: required(password, 'KAFKA_SASL_PASSWORD', 'KAFKA_SASL_MECHANISM needs it'),
  };
}
