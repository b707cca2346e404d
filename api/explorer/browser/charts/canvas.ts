import { useEffect, useRef, useState } from 'preact/hooks';
import { type Children, html } from '../html.ts';
import type { Shown } from '../parts/panel.ts';
import { Cursor } from './cursor.ts';
import type { Drawing, Drawn, PlotArea } from './draw.ts';

/** When to ask again for the library that draws, where it could not be had. */
const AGAIN_MS = 10_000;

/** A chart with a text alternative; the library that draws is loaded when there is a first chart to draw. */
export function Canvas({
  label,
  drawing,
  told,
  over,
}: {
  label: string;
  drawing: Drawing;
  /** What the panel shows for the time at an index. */
  told(at: number): Shown;
  /** What is drawn over the picture, given where its plot area is. */
  over?: (place: PlotArea) => Children;
}) {
  const [place, setPlace] = useState<PlotArea | null>(null);
  const [isMissing, setMissing] = useState(false);
  const holder = useRef<HTMLDivElement>(null);
  const newest = useRef(drawing);
  const drawn = useRef<Drawn | null>(null);
  newest.current = {
    ...drawing,
    onPlaced: (next) =>
      setPlace((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next)),
  };
  // Other series need a new plot, other numbers do not.
  const looks = drawing.series.map(({ colour, look }) => `${colour} ${look}`).join();
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    let gone = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      again = setTimeout(() => (document.visibilityState === 'visible' ? load() : later()), AGAIN_MS);
    };
    // Some browsers remember that a module failed and ask no more: then only a reload helps.
    const load = () =>
      import('./draw.ts').then(
        ({ draw }) => {
          if (gone) return;
          setMissing(false);
          drawn.current = draw(element, newest.current);
        },
        () => {
          if (gone) return;
          setMissing(true);
          later();
        },
      );
    load();
    return () => {
      gone = true;
      clearTimeout(again);
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [looks, drawing.height]);
  const known = JSON.stringify([drawing.times, drawing.series, drawing.from, drawing.isOfNow]);
  // `known` compares the numbers by value: the arrays are new at every render.
  useEffect(() => drawn.current?.update(newest.current), [known]);
  return html`<div class="canvas" style=${{ height: `${drawing.height}px` }}>
    <div ref=${holder} role="img" aria-label=${label}></div>
    ${isMissing && html`<p class="note">The picture could not be loaded; its numbers are below. If it stays away, reload the page.</p>`}
    ${place !== null && html`<${Cursor} times=${drawing.times} earlyS=${drawing.earlyS ?? 0} lateS=${drawing.lateS} place=${place} isOfNow=${drawing.isOfNow ?? false} told=${told} />${over?.(place)}`}
  </div>`;
}
