import { type Static, Type } from 'typebox';
import { Figure } from '../figure.ts';
import {
  BooleanOrNull,
  closed,
  figureOf,
  NumberOrNull,
  orNull,
  Slot,
  TextOrNull,
  TimeOrNull,
} from './parts.ts';

const Protocol = Type.Object({ paused: BooleanOrNull, source: Type.String(), asOf: TimeOrNull }, closed);

const Indexer = Type.Object(
  {
    lastProcessedSignature: TextOrNull,
    lastProcessedSlot: orNull(Slot),
    lastProcessedBlockTime: TimeOrNull,
    cursorUpdatedAt: TimeOrNull,
    history: Type.Object(
      {
        complete: Type.Boolean(),
        fromSlot: orNull(Slot),
        source: Type.Union([Type.Literal('rpc'), Type.Literal('stream')]),
        /** What keeps it incomplete, where it is not merely a matter of time. */
        reason: Type.Optional(Type.String()),
      },
      closed,
    ),
    /** Everything up to this slot was compared with the chain and is what it says. */
    verifiedSlot: orNull(Slot),
    openGaps: Type.Integer({ minimum: 0 }),
    /** `reason`: why it is not connected, or what of it the provider does not take. */
    stream: Type.Object({ connected: Type.Boolean(), since: TimeOrNull, reason: TextOrNull }, closed),
    /** Addresses beyond what the program owns; how many of them no stream carries. */
    followed: Type.Object({ addresses: NumberOrNull, overRpc: NumberOrNull }, closed),
    incompleteTransactions: Figure,
    deadLetters: Figure,
  },
  closed,
);

const Keeper = Type.Object(
  {
    lastActionAt: TimeOrNull,
    last24h: Type.Array(
      Type.Object(
        {
          kind: Type.String(),
          count: NumberOrNull,
          lastAt: TimeOrNull,
          countAbsentReason: Type.Optional(
            Type.String({ description: 'Why the count is null; only if it is.' }),
          ),
        },
        closed,
      ),
    ),
    unroutedFeeBacklogPolicyCount: figureOf(
      '`asOf` is that of the oldest balance counted, empty escrows included; a balance may not have changed for a long time.',
    ),
    note: Type.String(),
  },
  closed,
);

const Attestor = Type.Object(
  {
    lastActionAt: TimeOrNull,
    perVenue: Type.Array(Type.Intersect([Type.Object({ venue: Type.String() }), Figure])),
    moneyPathsFrozenNote: Type.String(),
  },
  closed,
);

const ProgramReach = Type.Object(
  {
    reachable: BooleanOrNull,
    programId: Type.String(),
    source: Type.Literal('chain:getAccountInfo'),
    reason: Type.Optional(Type.String()),
  },
  closed,
);

/** `GET /status`. The keys of `venues` are the configured ids of the four venues. */
export const StatusResponse = Type.Object(
  {
    protocol: Protocol,
    indexer: Indexer,
    keeper: Keeper,
    attestor: Attestor,
    venues: Type.Record(Type.String(), Type.Union([ProgramReach, Figure])),
  },
  closed,
);
export type StatusResponse = Static<typeof StatusResponse>;
