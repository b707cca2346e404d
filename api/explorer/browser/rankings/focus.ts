import { useLayoutEffect } from 'preact/hooks';

/** What gets the focus once the table of an address is drawn. */
let next: { selector: string; href: string } | null = null;

/** To be called after the address has changed: the element that has the focus goes with the table that it is in. */
export function focusInNext(selector: string): void {
  next = { selector, href: location.href };
}

/** Gives a new table the focus that the one before it had; where the focus is elsewhere it stays. */
export function useFocusOfLast(): void {
  useLayoutEffect(() => {
    const asked = next;
    next = null;
    if (asked?.href !== location.href || document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>(asked.selector)?.focus();
  }, []);
}
