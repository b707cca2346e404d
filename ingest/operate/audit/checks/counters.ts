import {
  type CountedState,
  type Counters,
  countedStates,
  countersFromEvents,
  type EventCounters,
  statesOf,
} from '../../../../clickhouse/queries/audit/counters.ts';
import type { Term } from '../../../../clickhouse/queries/audit/first-slot.ts';
import { pause } from '../../../../runtime/process/lifecycle.ts';
import type { AuditContext } from '../context.ts';
import { historyState, missingBefore } from '../history-state.ts';
import { firstDivergence } from './divergence.ts';

const POLICIES_AT_ONCE = 200;

/** The amounts of events that each counter sums; null for a counter that also falls. */
const COUNTERS: Record<keyof Counters, readonly Term[] | null> = {
  fees_claimed: ['FeesClaimed.a'],
  protocol_fees: ['Routed.b'],
  routed_to_bankroll: ['Routed.d'],
  profit_swept: ['ProfitSwept.b', 'ProfitSwept.c'],
  paid_to_holders: ['BuybackBurned.a'],
  tokens_burned: ['BuybackBurned.b', 'BaseLegBurned.a'],
  credit_spent: ['CreditNoted.a'],
  venue_count: null,
};
const NAMES = Object.keys(COUNTERS) as (keyof Counters)[];

/**
 * Compares the counters of each policy's stored state with its events up to the slot of that state. The state is read
 * first, then how whole history is, then the events: rows that close a gap or apply a slot are written after its
 * events.
 */
export async function auditCounters(context: AuditContext): Promise<void> {
  const { store, report, signal, pauseMs } = context;
  for (let after = ''; !signal.aborted; ) {
    const states = await countedStates(store, after, POLICIES_AT_ONCE);
    const history = await historyState(store);
    const whole = states.filter(
      (state) => missingBefore(history, state.address, BigInt(state.slot)) === null,
    );
    const events = await countersFromEvents(store, whole);
    const suspects = whole.filter((state) => differing(state, events.get(state.mint)).length > 0);
    report.compared('chain counters', (whole.length - suspects.length) * NAMES.length);
    // States that lack events may have all a moment later: a state is often stored before the marker of its slot.
    const again = [...suspects, ...states.filter((state) => !whole.includes(state))];
    if (again.length > 0) {
      await pause(pauseMs, signal);
      await lookAgain(
        context,
        again.map(({ address }) => address),
      );
    }
    const last = states.at(-1);
    if (last === undefined || states.length < POLICIES_AT_ONCE) return;
    after = last.address;
  }
}

async function lookAgain(context: AuditContext, addresses: readonly string[]): Promise<void> {
  const { store, report, caughtUp } = context;
  const states = await statesOf(store, addresses);
  const slots = states.map(({ slot }) => Number(slot));
  // Only what is missing of the last slots is waited for: anything else will not be there in a moment.
  await caughtUp(BigInt(Math.max(0, ...slots)));
  const history = await historyState(store);
  const whole: CountedState[] = [];
  for (const state of states) {
    const missing = missingBefore(history, state.address, BigInt(state.slot));
    if (missing === null) whole.push(state);
    else report.notComparable('chain counters', missing, NAMES.length);
  }
  const events = await countersFromEvents(store, whole);
  report.compared('chain counters', whole.length * NAMES.length);
  for (const state of whole) {
    for (const name of differing(state, events.get(state.mint))) {
      await tell(context, state, name, events.get(state.mint)?.[name] ?? '0');
    }
  }
}

async function tell(
  context: AuditContext,
  state: CountedState,
  name: keyof Counters,
  counted: string,
): Promise<void> {
  const { mint, slot: upTo } = state;
  const values = { events: counted, other: state[name] };
  const events = { of: 'mint', mint, partition: null, upTo } as const;
  context.report.difference('chain counters', {
    mint,
    figure: `Policy.${name}`,
    values: [
      ['chain', values.other],
      ['events', values.events],
    ],
    slot: await firstDivergence(context, events, COUNTERS[name], values),
  });
}

/** A policy without events has counted nothing. */
function differing(state: CountedState, events: EventCounters | undefined): (keyof Counters)[] {
  return NAMES.filter((name) => {
    // Null: one derived event may stand for several.
    if (events?.[name] === null) return false;
    return state[name] !== (events?.[name] ?? '0');
  });
}
