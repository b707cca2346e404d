import { globSync } from 'node:fs';
import { ROOT, textOf } from './compose.ts';

/** Names of all metrics that our processes give Prometheus. */
export const metricNames = (): string[] =>
  globSync('{api,ingest,runtime}/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    [...textOf(file).matchAll(/name: '([a-z_]+)',\s*help:/g)].map((match) => match[1] as string),
  );
