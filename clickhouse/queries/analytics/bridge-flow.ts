import type { Store } from '../../client.ts';

/** Unrevoked Remote venue accounts of one asset class. Null times: the time of one input is not known. */
export interface BridgeRow {
  asset_class: number;
  account_count: number;
  bridged_out: string;
  attested: string;
  unattested_count: number;
  oldest_time: string | null;
  oldest_asof: string;
  asset_mints: string[];
}

export async function bridgeFlow(store: Store): Promise<BridgeRow[]> {
  return store.query<BridgeRow>(
    `SELECT v.asset_class AS asset_class,
       toUInt32(count()) AS account_count,
       toString(sum(toUInt128(v.bridged_out))) AS bridged_out,
       toString(sum(toUInt128(v.remote_equity))) AS attested,
       toUInt32(countIf(v.remote_asof = 0)) AS unattested_count,
       if(countIf(v.block_time IS NULL) > 0, NULL, min(v.block_time)) AS oldest_time,
       min(v.remote_asof) AS oldest_asof,
       groupUniqArray(v.asset_mint) AS asset_mints
     FROM venue_accounts AS v FINAL
     WHERE v.exists = 1 AND v.kind = 'Remote' AND v.revoked = 0
     GROUP BY v.asset_class`,
    {},
  );
}
