import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 720px)');

/** Whether the window is as narrow as the style sheet's phones. */
export const narrow = signal(query.matches);
query.addEventListener('change', ({ matches }) => {
  narrow.value = matches;
});
