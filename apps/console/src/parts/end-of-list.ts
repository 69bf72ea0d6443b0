import { useEffect, useLayoutEffect, useRef } from 'react';

/** Scrolls to the end when a message is added, unless the person reads further up. */
export function useEndOfList(end: string) {
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const fromBottom = useRef<number | null>(null);
  useEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const note = () => (isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 80);
    box.addEventListener('scroll', note, { passive: true });
    return () => box.removeEventListener('scroll', note);
  });
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    if (fromBottom.current !== null) box.scrollTop = box.scrollHeight - fromBottom.current;
    else if (isAtEnd.current) box.scrollTop = box.scrollHeight;
    fromBottom.current = null;
  });
  useLayoutEffect(() => {
    if (scroller.current && isAtEnd.current) scroller.current.scrollTop = scroller.current.scrollHeight;
  }, [end]);
  const keepPlace = () => {
    const box = scroller.current!;
    fromBottom.current = box.scrollHeight - box.scrollTop;
    isAtEnd.current = false;
  };
  return { scroller, keepPlace };
}
