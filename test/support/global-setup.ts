import type { TestProject } from 'vitest/node';
import { startClickHouse } from './clickhouse-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The engine that all test files share; each makes databases of its own. */
    clickhouseUrl: string;
  }
}

/** One engine for the whole run: it costs 300 MB and most of a second to start. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clickhouse = await startClickHouse();
  project.provide('clickhouseUrl', clickhouse.url);
  return clickhouse.stop;
}
