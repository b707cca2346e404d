/** Whether somebody who has had little asked of late: those who have had much make room for him. */
export interface About {
  note(): void;
  isAbout(): boolean;
}

const ABOUT_MS = 1_000;

/** @param now milliseconds that only go forward */
export function createAbout(now: () => number): About {
  let at = Number.NEGATIVE_INFINITY;
  return {
    note: () => {
      at = now();
    },
    isAbout: () => now() - at <= ABOUT_MS,
  };
}
