/** How long a page may take to grow as tall as it was. */
const PATIENCE_MS = 5_000;
const SETTLED_MS = 150;

let leading = 0;

/**
 * Each entry of the tab's history keeps how far it was scrolled. Browsers restore that before a page has its numbers,
 * and so its height: here it is restored once the page is tall enough, unless the user scrolls first.
 */
export function keepScroll(): void {
  history.scrollRestoration = 'manual';
  let settled: ReturnType<typeof setTimeout> | undefined;
  addEventListener('scroll', () => {
    if (leading !== 0) return;
    clearTimeout(settled);
    settled = setTimeout(() => history.replaceState({ top: scrollY }, ''), SETTLED_MS);
  });
  addEventListener('popstate', () => {
    clearTimeout(settled);
    leadBack();
  });
  for (const own of ['wheel', 'touchstart', 'keydown', 'pointerdown'])
    addEventListener(own, leave, { passive: true });
  leadBack();
}

const leave = () => {
  cancelAnimationFrame(leading);
  leading = 0;
};

function leadBack(): void {
  leave();
  const top = (history.state as { top?: number } | null)?.top ?? 0;
  const until = performance.now() + PATIENCE_MS;
  const step = () => {
    scrollTo(0, top);
    leading = Math.abs(scrollY - top) > 1 && performance.now() < until ? requestAnimationFrame(step) : 0;
  };
  leading = requestAnimationFrame(step);
}
