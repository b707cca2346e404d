import { type AccountColumns, columnList } from '../../../schemas/program/account-fields.ts';
import { sharedRead } from '../../shared-reads.ts';
import type { ReadState } from '../../tables.ts';

export type ProtocolConfigRow = AccountColumns<'ProtocolConfig'> &
  Pick<ReadState<'protocol_config'>, 'block_time'>;

/** The protocol's config account; null where it was not read or does not exist. */
export const protocolConfig = sharedRead(async (store): Promise<ProtocolConfigRow | null> => {
  const [row] = await store.query<ProtocolConfigRow>(
    `SELECT block_time, ${columnList('ProtocolConfig')}
     FROM protocol_config FINAL
     WHERE exists = 1
     ORDER BY slot DESC
     LIMIT 1`,
    {},
  );
  return row ?? null;
});
