import { type RefObject, useEffect, useRef } from 'react';

const farPx = 80;
/** A swipe from the edge belongs to the phone, which goes back by itself. */
const edgePx = 24;

/** Goes back when a finger swipes to the right over a page, as in the apps of the phone. */
export function useSwipeBack(page: RefObject<HTMLElement | null>, back: () => void): void {
  const current = useRef(back);
  current.current = back;
  useEffect(() => {
    const target = page.current;
    if (target === null) return;
    let start: Touch | null = null;
    const onStart = (event: TouchEvent) => {
      const isOther =
        event.target instanceof Element && event.target.closest('input, textarea, select, audio, video, dialog, pre');
      const isPhone = matchMedia('(max-width: 48rem)').matches;
      const [touch] = event.touches;
      start = event.touches.length === 1 && !isOther && isPhone && touch!.clientX > edgePx ? touch! : null;
    };
    const onEnd = (event: TouchEvent) => {
      const [touch] = event.changedTouches;
      if (start === null || touch === undefined) return;
      const [rightPx, downPx] = [touch.clientX - start.clientX, Math.abs(touch.clientY - start.clientY)];
      start = null;
      if (rightPx > farPx && rightPx > 2 * downPx && getSelection()?.isCollapsed !== false) current.current();
    };
    target.addEventListener('touchstart', onStart, { passive: true });
    target.addEventListener('touchend', onEnd, { passive: true });
    return () => {
      target.removeEventListener('touchstart', onStart);
      target.removeEventListener('touchend', onEnd);
    };
  }, [page]);
}
