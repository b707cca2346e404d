import { collectDefaultMetrics, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readCompose, textOf } from './support/compose.ts';
import { metricNames } from './support/metric-names.ts';

const compose = readCompose();

const metrics = new Set(metricNames());
/** Metrics of Prometheus itself, and of every process. */
const GIVEN = new Set(['up', 'process_resident_memory_bytes', 'process_start_time_seconds']);
const FUNCTIONS =
  /\b(absent|changes|count|increase|rate|sum|min|max|max_over_time|deriv|histogram_quantile|by|or|and|unless|offset|le)\b/g;

/** The names of metrics in an expression: no functions, no labels, no values of labels. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|\b\d+[smh]\b/g, '')
    .replaceAll(/\bby \([^)]*\)/g, '')
    .replaceAll(FUNCTIONS, '');
  return [...bare.matchAll(/[a-z][a-z_]*/g)].map(([name]) => name);
}

const { groups } = parse(textOf('deploy/alerts.yml')) as {
  groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const board = JSON.parse(textOf('deploy/grafana/boards/bankroll.json')) as {
  panels: { title: string; datasource: { uid: string }; targets: { expr: string }[] }[];
};
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...board.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

test.each(expressions)('%s queries only metrics that a process exports: %s', (_title, expression) => {
  const names = metricsIn(expression);
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const plain = name.replace(/_(bucket|count)$/, '');
    expect(metrics.has(plain) || GIVEN.has(plain), name).toBe(true);
  }
});

test('the alert FiguresStand stays off before the first released slot, as stream_released_slot is 0 until then', () => {
  const { expr } = rules.find(({ alert }) => alert === 'FiguresStand') ?? {};
  expect(expr).toMatch(/^max\(stream_released_slot\) > 0 unless /);
});

test('the alert ProcessRestarts counts changes of process_start_time_seconds, which every process exports', async () => {
  // With each restart the `for` of another alert begins anew: a process that restarts again and again may set off none.
  const { expr } = rules.find(({ alert }) => alert === 'ProcessRestarts') ?? {};
  expect(expr).toContain('changes(process_start_time_seconds[');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  expect(registry.getSingleMetric('process_start_time_seconds')).toBeDefined();
});

test('the alert ProcessRestarts stays off after a deploy, however many replicas of a kind it replaces', () => {
  // Each replaced replica counts as a restart, and at a new address as a further series: together they have a limit
  // for each replica that there was.
  const { expr } = rules.find(({ alert }) => alert === 'ProcessRestarts') ?? {};
  const [ofOne, ofAll, ...others] = expr?.split(' or ') ?? [];
  expect(ofOne).toBe('max by (job) (changes(process_start_time_seconds[3h])) > 5');
  expect(ofAll).toMatch(
    / - count by \(job\) \(up\) > 5 \* max_over_time\(count by \(job\) \(up\)\[3h:1m\]\)$/,
  );
  expect(others).toEqual([]);
});

test('the alert ReadingsFail waits until a source has failed for half an hour, also after a start', () => {
  const { expr } = rules.find(({ alert }) => alert === 'ReadingsFail') ?? {};
  expect(expr).toMatch(/ and sum by \(source\) \(poll_answers_total\{result="failed"\} offset 30m\)$/);
});

test('the Grafana board has panels for lag, batches, inserts, dead letters and API latency', () => {
  expect(board.panels.map(({ title }) => title)).toEqual(
    expect.arrayContaining([
      ...['Slot lag', 'Consumer lag', 'Batch age', 'Insert time', 'Dead letters', 'API latency'],
    ]),
  );
});

test('the board shows unresolved dead letters too: the first of a kind begins a series, which increase() leaves out', () => {
  const letters = board.panels.find(({ title }) => title === 'Dead letters');
  expect(letters?.targets.map(({ expr }) => expr)).toContain('max(dead_letters)');
});

test('Grafana is provisioned with the Prometheus data source and the mounted board', () => {
  const [source] = parse(textOf('deploy/grafana/provisioning/datasources/prometheus.yml')).datasources;
  expect(source.url).toBe('http://prometheus:9090');
  for (const panel of board.panels) expect(panel.datasource.uid).toBe(source.uid);
  const [provider] = parse(textOf('deploy/grafana/provisioning/dashboards/boards.yml')).providers;
  expect(compose.services.grafana?.volumes).toContain(`./deploy/grafana/boards:${provider.options.path}:ro`);
});

test('Prometheus scrapes every long-running process of ours on its METRICS_PORT', () => {
  const { scrape_configs: jobs, rule_files: files } = parse(textOf('deploy/prometheus.yml'));
  const asked = jobs.map((job: { dns_sd_configs: [{ names: [string]; port: number }] }) => {
    const [{ names, port }] = job.dns_sd_configs;
    expect(compose.services[names[0]]?.environment?.METRICS_PORT).toBe(port);
    expect(compose.services[names[0]]?.networks).toContain('figures');
    return names[0];
  });
  expect(asked).toEqual(['ingest', 'materialise', 'poll', 'api']);
  expect(files).toEqual(['alerts.yml']);
});

test('every alert is explained in docs/operations.md', () => {
  const page = textOf('docs/operations.md');
  expect(rules.length).toBeGreaterThan(8);
  for (const { alert } of rules) expect(page).toContain(`**${alert}**`);
});
