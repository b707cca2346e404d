import { globSync } from 'node:fs';
import { ROOT, textOf } from './compose.ts';

/** Of every figure that some process of ours tells Prometheus. */
export const metricNames = (): string[] =>
  globSync('{api,ingest,runtime}/**/*.ts', { cwd: ROOT }).flatMap((file) =>
    [...textOf(file).matchAll(/name: '([a-z_]+)',\s*help:/g)].map((match) => match[1] as string),
  );
