import { sharedRead } from '../shared-reads.ts';

export interface ProtocolConfigRow {
  block_time: string | null;
  launchpad_program: string;
  amm_program: string;
  paused: number;
  protocol_fee_bps: number;
  max_bankroll_bps: number;
  max_deviation_bps: number;
  /** Seconds; '0' means not configured. */
  max_remote_staleness: string;
  min_risk_for_class: number[];
}

/** The protocol's config account; null where it was not read or does not exist. */
export const protocolConfig = sharedRead(async (store): Promise<ProtocolConfigRow | null> => {
  const [row] = await store.query<ProtocolConfigRow>(
    `SELECT block_time, launchpad_program, amm_program, paused, protocol_fee_bps, max_bankroll_bps,
       max_deviation_bps, max_remote_staleness, min_risk_for_class
     FROM protocol_config FINAL
     WHERE exists = 1
     ORDER BY slot DESC
     LIMIT 1`,
    {},
  );
  return row ?? null;
});
