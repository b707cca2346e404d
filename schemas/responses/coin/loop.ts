import { type Static, type TProperties, Type } from 'typebox';
import { Figure } from '../../figure.ts';
import { closed, figureOf } from '../parts.ts';

const step = <T extends TProperties>(properties: T) => Type.Object(properties, closed);

const local = figureOf(
  'Balances of the unrevoked Local accounts; absent where one is of a mint that is neither that of the quote nor the one it is registered with.',
);

const localOfOtherAssets = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'Token accounts of unrevoked Local accounts whose balances are of another mint than the quote: where `local` is told, they are in it as they are. There only where there are any.',
  }),
);

/** `GET /coins/:mint/loop`: the way of the money, step by step. */
export const LoopResponse = Type.Object(
  {
    mint: Type.String(),
    step1_feesClaimed: step({ quoteLeg: Figure, baseLeg: Figure }),
    step2_routed: step({ protocolCut: Figure, toLp: Figure, toBankroll: Figure }),
    step3_lpCompounded: Figure,
    step4_deployed: step({ local, remote: Figure, bankrollUnspent: Figure, localOfOtherAssets }),
    step5_profit: step({ hwm: Figure, totalSwept: Figure, toHoldersStaged: Figure, toLpFromProfit: Figure }),
    step6_buyback: step({ spent: Figure, burned: Figure }),
    credit: step({ spent: Figure, returnPerCredit: Figure }),
  },
  closed,
);
export type LoopResponse = Static<typeof LoopResponse>;
