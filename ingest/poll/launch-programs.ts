import { protocolConfig } from '../../clickhouse/queries/status/protocol-config.ts';
import { upstreamWords } from '../../runtime/outside/upstream.ts';
import type { LogRecord } from '../../schemas/records.ts';
import type { PollOptions, Round } from './round.ts';

/** Whether the launchpad's and the AMM's programs are on the chain: those that the protocol names, once it is known. */
export function programsRound({ config, store, rpc }: PollOptions): Round {
  return async (emit) => {
    const protocol = await protocolConfig(store);
    const programs = [
      { program: 'launchpad', address: protocol?.launchpad_program ?? config.launchpadProgramId },
      { program: 'amm', address: protocol?.amm_program ?? config.ammProgramId },
    ] as const;
    const records = programs.map(async ({ program, address }): Promise<LogRecord> => {
      const answer = await rpc.getAccountInfo(address).then(
        ({ account }) => ({ exists: account !== null, error: null }),
        (error: unknown) => ({ exists: false, error: upstreamWords(error) }),
      );
      const reading = { type: 'program_status', program, address, ...answer } as const;
      return { kind: 'reading', readAt: Date.now(), reading };
    });
    await emit(await Promise.all(records));
  };
}
