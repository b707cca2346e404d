import type { StreamStore } from '../../../ingest/stream/stored-state.ts';

/** What a stream finds where nothing is stored yet. */
export const nothingStored: StreamStore = {
  position: async () => null,
  knownAccounts: async () => [],
  uncarried: async () => [],
  openGaps: async () => [],
  closedUpTo: async () => new Map(),
  historyBegin: async () => ({ firstSlot: null, clipped: [] }),
  hasBefore: async () => false,
  isWhole: async () => false,
  listedSlot: async () => null,
  unreadAccounts: async () => [],
  incompleteTransactions: async () => [],
};
