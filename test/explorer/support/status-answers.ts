import type { Figure } from '../../../schemas/figure.ts';
import type { StatusResponse } from '../../../schemas/responses/status.ts';

const count: Figure = { value: 0, source: 'a test', asOf: null };
/** What /status answers where all is well, with the time of the newest slot and of a keeper's last action. */
export const statusAt = (blockTime: number, lastAt: number): StatusResponse => ({
  protocol: { paused: false, source: 'a test', asOf: null },
  indexer: {
    ...{ lastProcessedSignature: null, lastProcessedSlot: '7', cursorUpdatedAt: null },
    lastProcessedBlockTime: new Date(blockTime).toISOString(),
    history: { complete: true, fromSlot: '1', source: 'rpc' },
    ...{ verifiedSlot: '7', openGaps: 0, stream: { connected: true, since: null, reason: null } },
    followed: { addresses: 0, overRpc: 0 },
    ...{ incompleteTransactions: count, deadLetters: count },
  },
  keeper: {
    lastActionAt: null,
    last24h: [{ kind: 'Routed', count: 1, lastAt: new Date(lastAt).toISOString() }],
    ...{ unroutedFeeBacklogPolicyCount: count, note: '' },
  },
  attestor: { lastActionAt: null, perVenue: [], moneyPathsFrozenNote: '' },
  venues: { perp_venue: { value: 4, source: 'a test', asOf: null } },
});
