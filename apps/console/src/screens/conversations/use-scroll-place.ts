import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';

const nearPx = 60;
const loadPx = 800;

interface Anchor {
  id: string;
  /** Distance of the item from the upper edge of the box. */
  top: number;
}

interface ScrollPlaceOptions {
  box: RefObject<HTMLElement | null>;
  onNearTop: () => void;
  onNearEnd: () => void;
}

/**
 * Keeps what is read in its place while items are added above and below it, and pictures get their height: the browser's own
 * anchoring does not exist in all of them. At the end of the list, the end is followed. Items have `data-item`.
 */
export function useScrollPlace({ box, onNearTop, onNearEnd }: ScrollPlaceOptions) {
  const anchor = useRef<Anchor | null>(null);
  const isAtEnd = useRef(true);
  const [isAway, setAway] = useState(false);
  const near = useRef({ onNearTop, onNearEnd });
  near.current = { onNearTop, onNearEnd };

  const restore = () => {
    const scroller = box.current;
    if (scroller === null) return;
    if (isAtEnd.current) scroller.scrollTop = scroller.scrollHeight;
    else if (anchor.current !== null) {
      const item = scroller.querySelector(`[data-item="${CSS.escape(anchor.current.id)}"]`);
      if (item === null) return;
      const movedPx = item.getBoundingClientRect().top - scroller.getBoundingClientRect().top - anchor.current.top;
      // Writing the position ends a swipe on some phones.
      if (Math.abs(movedPx) > 1) scroller.scrollTop += movedPx;
    }
  };

  useEffect(() => {
    const scroller = box.current;
    if (scroller === null) return;
    let lastTop = scroller.scrollTop;
    const onScroll = () => {
      const fromEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
      // Content that grows is no reason to leave the end: only a person who scrolls up is.
      if (fromEnd < nearPx) isAtEnd.current = true;
      else if (scroller.scrollTop < lastTop - 1) isAtEnd.current = false;
      lastTop = scroller.scrollTop;
      setAway(fromEnd > scroller.clientHeight);
      anchor.current = anchorOf(scroller);
      if (scroller.scrollTop < loadPx) near.current.onNearTop();
      if (fromEnd < loadPx) near.current.onNearEnd();
    };
    const observer = new ResizeObserver(restore);
    observer.observe(scroller);
    for (const child of scroller.children) observer.observe(child);
    scroller.addEventListener('scroll', onScroll, { passive: true });
    return () => (observer.disconnect(), scroller.removeEventListener('scroll', onScroll));
  }, [box]);
  useLayoutEffect(restore);
  const toEnd = () => {
    isAtEnd.current = true;
    restore();
  };
  return { isAway, toEnd };
}

/** The first item of which some is visible. */
function anchorOf(scroller: HTMLElement): Anchor | null {
  const top = scroller.getBoundingClientRect().top;
  for (const item of scroller.querySelectorAll<HTMLElement>('[data-item]')) {
    const rectangle = item.getBoundingClientRect();
    if (rectangle.bottom > top) return { id: item.dataset.item!, top: rectangle.top - top };
  }
  return null;
}
