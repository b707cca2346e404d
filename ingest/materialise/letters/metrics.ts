import { Gauge, type Registry } from 'prom-client';
import type { Store } from '../../../clickhouse/client.ts';
import { deadLetterCount } from '../../../clickhouse/queries/status/status-counts.ts';
import { nullIfUnanswered } from '../../../runtime/process/null-if-unanswered.ts';

/** Tells Prometheus how many dead letters are unresolved, as `/status` does. @param current null before there is a database */
export function letterMetrics(registry: Registry, current: () => Store | null): void {
  const counted = nullIfUnanswered(async () => {
    const store = current();
    return store === null ? null : deadLetterCount(store);
  });
  new Gauge({
    name: 'dead_letters',
    help: 'Records that do not decode, by now, whichever process found them.',
    registers: [registry],
    async collect() {
      // /ready tells of a database that does not answer; the other metrics are still wanted. `reset` would report 0.
      this.remove();
      const count = await counted();
      if (count !== null) this.set(Number(count));
    },
  });
}
