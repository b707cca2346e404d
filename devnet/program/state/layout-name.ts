import { createHash } from 'node:crypto';
import { ACCOUNT_LAYOUTS, EVENT_LAYOUTS } from './layouts.ts';

/** Identifies the byte layout: a ledger stores typed values, and those of another layout lack fields. */
export const LAYOUT_NAME = createHash('sha256')
  .update(JSON.stringify([ACCOUNT_LAYOUTS, EVENT_LAYOUTS]))
  .digest('hex');

/** The layout in which ledgers of format 1 were written, which do not name it. */
export const LAYOUT_OF_FORMAT_1 = 'f8096ab8538b9e41892364119ab6b228e80192b0c03e430cfc1d479a06a8186c';
