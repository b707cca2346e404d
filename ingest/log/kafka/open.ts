import { type Config, required } from '../../../runtime/config/config.ts';
import type { Logger } from '../../../runtime/process/log.ts';
import { createKafkaClient } from './client.ts';
import type { KafkaClient, KafkaSettings } from './cluster.ts';

/** The cluster that the configuration names. @throws ConfigError where it names none, or a login without its parts */
export function openKafka(config: Config, logger: Logger): KafkaClient {
  return createKafkaClient(kafkaSettings(config), logger);
}

function kafkaSettings(config: Config): KafkaSettings {
  const { kafkaSaslMechanism: mechanism } = config;
  return {
    brokers: required(config.kafkaBrokers, 'KAFKA_BROKERS', 'the log is kept there'),
    tls: config.kafkaTls,
    sasl:
      mechanism === null
        ? null
        : {
            mechanism,
            username: required(
              config.kafkaSaslUsername,
              'KAFKA_SASL_USERNAME',
              'KAFKA_SASL_MECHANISM needs it',
            ),
            password: required(
              config.kafkaSaslPassword,
              'KAFKA_SASL_PASSWORD',
              'KAFKA_SASL_MECHANISM needs it',
            ),
          },
    clientId: config.serviceName,
  };
}
