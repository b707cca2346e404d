import { createCaughtUp } from './caught-up.ts';
import { auditAccounts } from './checks/accounts.ts';
import { auditCounters } from './checks/counters.ts';
import { auditDays } from './checks/days.ts';
import { auditEventKinds } from './checks/event-kinds.ts';
import { auditEventTables } from './checks/event-tables.ts';
import { auditHours } from './checks/hours.ts';
import { auditLostAccounts } from './checks/lost-accounts.ts';
import { createLostFinder } from './checks/lost-events.ts';
import { auditQuoteHours } from './checks/quote-hours.ts';
import { auditTotals } from './checks/totals.ts';
import type { AuditContext } from './context.ts';

export interface AuditOptions extends Omit<AuditContext, 'caughtUp' | 'firstLost'> {
  /** How long the index may take to come to the slot of an answer of the chain. */
  waitMs: number;
}

/** Runs every comparison, one after the other. @throws ClickHouseError, RpcError */
export async function runAudit(options: AuditOptions): Promise<void> {
  const context: AuditContext = {
    ...options,
    caughtUp: createCaughtUp(options),
    firstLost: createLostFinder(options),
  };
  await auditTotals(context);
  await auditDays(context);
  await auditEventKinds(context);
  await auditEventTables(context);
  await auditCounters(context);
  await auditHours(context);
  await auditQuoteHours(context);
  if (context.rpc === null) return;
  await auditAccounts(context, context.rpc);
  await auditLostAccounts(context, context.rpc);
}
