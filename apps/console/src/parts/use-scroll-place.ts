import { useEffect, useLayoutEffect, useRef, useState } from 'react';

const nearPx = 60;
const loadPx = 800;

interface Anchor {
  id: string;
  /** Distance of the item from the upper edge of the box. */
  top: number;
}

interface ScrollPlaceOptions {
  onNearTop?: () => void;
  onNearEnd?: () => void;
}

/**
 * Keeps what is read in its place while items are added above and below it, and pictures get
 * their height: the browser's own anchoring does not exist in all of them. At the end of the
 * list, the end is followed. Items have `data-item`. `scroller` is the ref of the box, which may
 * be rendered later.
 */
export function useScrollPlace({ onNearTop, onNearEnd }: ScrollPlaceOptions = {}) {
  const [box, scroller] = useState<HTMLElement | null>(null);
  const anchor = useRef<Anchor | null>(null);
  const isAtEnd = useRef(true);
  /** The position after the last scroll, of a person or of `restore`. */
  const lastTop = useRef(0);
  const [isAway, setAway] = useState(false);
  const near = useRef({ onNearTop, onNearEnd });
  near.current = { onNearTop, onNearEnd };

  const restore = () => {
    if (box === null) return;
    if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    else if (anchor.current !== null) {
      const item = box.querySelector(`[data-item="${CSS.escape(anchor.current.id)}"]`);
      if (item === null) return;
      const movedPx =
        item.getBoundingClientRect().top - box.getBoundingClientRect().top - anchor.current.top;
      // Writing the position ends a swipe on some phones.
      if (Math.abs(movedPx) > 1) box.scrollTop += movedPx;
    }
    // Content may have become shorter, which is not a person who scrolls up either.
    lastTop.current = box.scrollTop;
  };

  useEffect(() => {
    if (box === null) return;
    lastTop.current = box.scrollTop;
    const onScroll = () => {
      const fromEnd = box.scrollHeight - box.scrollTop - box.clientHeight;
      // Content that grows is no reason to leave the end: only a person who scrolls up is.
      if (fromEnd < nearPx) isAtEnd.current = true;
      else if (box.scrollTop < lastTop.current - 1) isAtEnd.current = false;
      lastTop.current = box.scrollTop;
      setAway(fromEnd > box.clientHeight);
      anchor.current = anchorOf(box);
      if (box.scrollTop < loadPx) near.current.onNearTop?.();
      if (fromEnd < loadPx) near.current.onNearEnd?.();
    };
    const observer = new ResizeObserver(restore);
    observer.observe(box);
    for (const child of box.children) observer.observe(child);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, [box]);
  useLayoutEffect(restore);
  const toEnd = () => {
    isAtEnd.current = true;
    restore();
  };
  return { scroller, isAway, toEnd };
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
