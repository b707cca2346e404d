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
    brokers: required(config, { kafkaBrokers: 'the log is kept there' }).kafkaBrokers,
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
  const others = username === null ? 'KAFKA_SASL_PASSWORD' : 'KAFKA_SASL_USERNAME';
  const why = `${mechanism === null ? others : 'KAFKA_SASL_MECHANISM'} needs it`;
  const login = required(config, {
    kafkaSaslMechanism: why,
    kafkaSaslUsername: why,
    kafkaSaslPassword: why,
  });
  return {
    mechanism: login.kafkaSaslMechanism,
    username: login.kafkaSaslUsername,
    password: login.kafkaSaslPassword,
  };
}
