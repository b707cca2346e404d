import { sharedRead } from '../shared-reads.ts';

export interface OriginRow {
  address: string;
  id: number;
  name: string;
  asset_class_mask: number;
  max_risk: number;
}

/** All origins, by id. */
export const origins = sharedRead((store) =>
  store.query<OriginRow>(
    `SELECT address, id, name, asset_class_mask, max_risk
     FROM origins FINAL
     WHERE exists = 1
     ORDER BY id, address`,
  ),
);

export interface ModelRow {
  id: number;
  name: string;
  provider: string;
  enabled: number;
  registered_at: string;
}

/** All models, by id. */
export const models = sharedRead((store) =>
  store.query<ModelRow>(
    `SELECT id, name, provider, enabled, registered_at
     FROM models FINAL
     WHERE exists = 1
     ORDER BY id, address`,
  ),
);
