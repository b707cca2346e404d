/** How much of its day a bar is wide, and the most that it is. */
export const BAR_SHARE = 0.7;
export const MOST_BAR_PX = 48;
