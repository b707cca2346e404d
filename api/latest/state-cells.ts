import type { Cell, Source } from './cells/cells.ts';
import type { IndexState } from './index-state.ts';

/** The state of the index in two parts: one moves with every slot, the other hardly ever. */
export interface StateCells {
  progress: Cell;
  missing: Cell;
  ranked: Cell;
}

/** The state, each part of it noted as used where it is looked at. */
export function tracked({ progress, missing }: StateCells, use: (source: Source) => void): IndexState {
  const state = missing.value as IndexState;
  const newest = progress.value as IndexState;
  let usesMissing = false;
  let usesProgress = false;
  const still = <Field extends keyof IndexState>(field: Field): IndexState[Field] => {
    if (!usesMissing) use(missing);
    usesMissing = true;
    return state[field];
  };
  const moving = <Field extends keyof IndexState>(field: Field): IndexState[Field] => {
    if (!usesProgress) use(progress);
    usesProgress = true;
    return newest[field];
  };
  return {
    get applied() {
      return moving('applied');
    },
    get markerTime() {
      return moving('markerTime');
    },
    get followedTime() {
      return moving('followedTime');
    },
    get gaps() {
      return still('gaps');
    },
    get openGaps() {
      return still('openGaps');
    },
    get incomplete() {
      return still('incomplete');
    },
    get historyReason() {
      return still('historyReason');
    },
  };
}
