/** j and k walk the rows of a ranking as the arrows do in a list; Enter is the link's own. */
export function moveInRows(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if ((event.target as Element).matches('input, select, textarea')) return;
  const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
  if (step === 0) return;
  const links = [...document.querySelectorAll<HTMLElement>('a.row-link')];
  const row = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a.row-link');
  const at = row === null || row === undefined ? -1 : links.indexOf(row);
  const next = links[at === -1 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
  next.closest('tr')?.scrollIntoView({ block: 'nearest' });
}
