import { type AccountColumns, columnList } from '../../../schemas/program/account-fields.ts';
import { sharedRead } from '../../shared-reads.ts';
import type { ReadState } from '../../tables.ts';

export type OriginRow = AccountColumns<'Origin'> & Pick<ReadState<'origins'>, 'address'>;

/** All origins, by id. */
export const origins = sharedRead((store) =>
  store.query<OriginRow>(
    `SELECT address, ${columnList('Origin')}
     FROM origins FINAL
     WHERE exists = 1
     ORDER BY id, address`,
  ),
);

export type ModelRow = AccountColumns<'Model'>;

/** All models, by id. */
export const models = sharedRead((store) =>
  store.query<ModelRow>(
    `SELECT ${columnList('Model')}
     FROM models FINAL
     WHERE exists = 1
     ORDER BY id, address`,
  ),
);
