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
        event.target instanceof Element &&
        event.target.closest('input, textarea, select, audio, video, dialog, pre');
      const isPhone = matchMedia('(max-width: 48rem)').matches;
      // On an enlarged page a finger moves the part that is visible.
      const isEnlarged = (visualViewport?.scale ?? 1) > 1;
      const [touch] = event.touches;
      const isAlone = event.touches.length === 1 && touch!.clientX > edgePx;
      start = isAlone && !isOther && isPhone && !isEnlarged ? touch! : null;
    };
    const isFartherThan = (px: number, [touch]: TouchList) => {
      if (start === null || touch === undefined) return false;
      const [rightPx, downPx] = [
        touch.clientX - start.clientX,
        Math.abs(touch.clientY - start.clientY),
      ];
      return rightPx > px && rightPx > 2 * downPx && getSelection()?.isCollapsed !== false;
    };
    // A browser that goes back on a swipe itself would go back a second time. A scroll that has
    // begun cannot be prevented.
    const onMove = (event: TouchEvent) => {
      if (event.cancelable && isFartherThan(0, event.changedTouches)) event.preventDefault();
    };
    const onEnd = (event: TouchEvent) => {
      const isSwipe = isFartherThan(farPx, event.changedTouches);
      start = null;
      if (isSwipe) current.current();
    };
    const ended = new AbortController();
    const { signal } = ended;
    target.addEventListener('touchstart', onStart, { signal, passive: true });
    target.addEventListener('touchmove', onMove, { signal, passive: false });
    target.addEventListener('touchend', onEnd, { signal, passive: true });
    return () => ended.abort();
  }, [page]);
}
