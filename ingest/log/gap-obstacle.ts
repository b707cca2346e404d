import type { GapObstacle } from '../../schemas/records.ts';

/** An obstacle as the fields of a wire record or of a row; at most one of the two is set. */
export interface ObstacleParts {
  unread: string | null;
  firstSlot: bigint | null;
}

export const partsOf = (obstacle: GapObstacle | null): ObstacleParts => ({
  unread: obstacle?.type === 'unread' ? obstacle.signature : null,
  firstSlot: obstacle?.type === 'pruned' ? obstacle.firstSlot : null,
});

export function obstacleOf({ unread, firstSlot }: ObstacleParts): GapObstacle | null {
  if (unread !== null) return { type: 'unread', signature: unread };
  return firstSlot === null ? null : { type: 'pruned', firstSlot };
}
