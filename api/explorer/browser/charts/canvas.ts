import { useEffect, useRef, useState } from 'preact/hooks';
import { type Children, html } from '../html.ts';
import type { Shown } from '../parts/panel.ts';
import { Cursor } from './cursor.ts';
import type { Drawing, Drawn, PlotArea } from './draw.ts';

/** A picture of numbers, which says in words what it is of; the library that draws it comes when there is one to draw. */
export function Canvas({
  label,
  drawing,
  told,
  over,
}: {
  label: string;
  drawing: Drawing;
  /** What is said of the time at an index. */
  told(at: number): Shown;
  /** What lies over the picture, where it came to lie. */
  over?: (place: PlotArea) => Children;
}) {
  const [place, setPlace] = useState<PlotArea | null>(null);
  const holder = useRef<HTMLDivElement>(null);
  const newest = useRef(drawing);
  const drawn = useRef<Drawn | null>(null);
  newest.current = {
    ...drawing,
    onPlaced: (next) =>
      setPlace((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next)),
  };
  // Other series are another picture, other numbers are not.
  const looks = drawing.series.map(({ colour, look }) => `${colour} ${look}`).join();
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    let gone = false;
    import('./draw.ts').then(({ draw }) => {
      if (!gone) drawn.current = draw(element, newest.current);
    });
    return () => {
      gone = true;
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [looks, drawing.height]);
  const known = JSON.stringify([drawing.times, drawing.series, drawing.from, drawing.isOfNow]);
  // The numbers by what they say.
  useEffect(() => drawn.current?.update(newest.current), [known]);
  return html`<div class="canvas" style=${{ height: `${drawing.height}px` }}>
    <div ref=${holder} role="img" aria-label=${label}></div>
    ${place !== null && html`<${Cursor} times=${drawing.times} earlyS=${drawing.earlyS ?? 0} place=${place} isOfNow=${drawing.isOfNow ?? false} told=${told} />${over?.(place)}`}
  </div>`;
}
