import type { ModelRow } from '../../clickhouse/queries/states/registries.ts';
import type { ModelRef } from '../../schemas/responses/parts.ts';

/** The model a policy points at. In Passive mode the field exists and is never read. */
export function modelOf(
  policy: { mode: 'Passive' | 'Agent'; model_id: number },
  rows: readonly ModelRow[],
): ModelRef {
  if (policy.mode === 'Passive') return { id: 0, name: null, provider: null, enabled: null };
  const row = rows.find((model) => model.id === policy.model_id);
  if (row === undefined) return { id: policy.model_id, name: null, provider: null, enabled: null };
  return { id: row.id, name: row.name, provider: row.provider, enabled: row.enabled === 1 };
}
