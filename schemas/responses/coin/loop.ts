import { type Static, type TProperties, Type } from 'typebox';
import { Figure } from '../../figure.ts';
import { closed, figureOf } from '../parts.ts';

const step = <T extends TProperties>(properties: T) => Type.Object(properties, closed);

const local = figureOf(
  'Balances of the unrevoked Local accounts; absent if one of them has a mint that is neither the quote asset nor the one it was registered with.',
);

const localOfOtherAssets = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'Token accounts of unrevoked Local accounts that hold another mint than the quote asset; left out if there are none. Unless `local` is absent, their balances are added to it unconverted.',
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
