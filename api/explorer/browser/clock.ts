import { signal } from '@preact/signals';

/** Unix milliseconds, for ages; moves once a second while the tab is looked at. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 1_000);
