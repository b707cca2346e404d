import { useEffect, useState } from 'preact/hooks';
import type { LoopResponse } from '../../../../schemas/responses/coin/loop.ts';
import { type Row, rowOfLoop, withSample } from '../history/rows.ts';
import type { Resource } from '../resource.ts';
import { heldInQuote } from './other-asset.ts';

const MOST_SAMPLES = 600;

/** What this page has seen of a policy's equity, oldest first, by the clock of the API, as its past is. */
export function useSamples({ data, there, path }: Resource<LoopResponse>): readonly Row[] {
  const [seen, setSeen] = useState<Row[]>([]);
  useEffect(() => {
    if (data === null || there === null) return;
    const held = heldInQuote(data.step4_deployed);
    const row = rowOfLoop({ ...data, step4_deployed: held }, there, path);
    setSeen((rows) => withSample(rows, row, MOST_SAMPLES));
  }, [data, there]);
  return seen;
}
