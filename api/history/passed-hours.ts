import { HOUR_S } from '../../schemas/units.ts';
import type { View } from '../latest/view.ts';

export const NOT_REACHED = 'the index has not come to this moment';

/**
 * The hour, since 1970, before which each partition of the log has applied everything: answers for ends up to and with
 * it stand.
 */
export function passedHours(view: View): number {
  const { followedTime } = view.state();
  return followedTime === null ? 0 : Math.floor(Date.parse(followedTime) / 1000 / HOUR_S);
}
