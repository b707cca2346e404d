import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

const SPARE_ROWS = 6;
const onPaper = matchMedia('print');

/** Which rows of a long list, all of one height, lie inside its frame; calls `onEnd` when its end comes near. */
export function useWindow(count: number, rowPx: number, onEnd: () => void) {
  const frame = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    // In print the frame is as high as the rows drawn, which must not make it draw more.
    const watched = new ResizeObserver(() => {
      if (!onPaper.matches) setHeight(element.clientHeight);
    });
    watched.observe(element);
    return () => watched.disconnect();
  }, []);
  const onScroll = useCallback(() => setTop(frame.current?.scrollTop ?? 0), []);
  const from = Math.max(0, Math.floor(top / rowPx) - SPARE_ROWS);
  const to = Math.min(count, Math.ceil((top + height) / rowPx) + SPARE_ROWS);
  useEffect(() => {
    if (to >= count && top > 0) onEnd();
  }, [to, count, top, onEnd]);
  return { frame, from, to, onScroll };
}
