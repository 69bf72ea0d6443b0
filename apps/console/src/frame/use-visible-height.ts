import { useEffect } from 'react';

/** A keyboard takes more than this; the bars of a browser take less. */
const keyboardPx = 120;

/**
 * Sets `--visible-height` while a keyboard hides a part of the page: some browsers do not
 * make the page smaller, so that what is at its end, such as the box of a reply, would be
 * behind the keyboard.
 */
export function useVisibleHeight(): void {
  useEffect(() => {
    const { visualViewport: viewport } = window;
    if (!viewport) return;
    const { style } = document.documentElement;
    const measure = () => {
      // Zooming in makes the viewport smaller too.
      const isCovered = viewport.scale < 1.01 && window.innerHeight - viewport.height > keyboardPx;
      if (!isCovered) return style.removeProperty('--visible-height');
      style.setProperty('--visible-height', `${viewport.height}px`);
      // The browser has scrolled the page to show the box; now the page fits.
      window.scrollTo(0, 0);
      return undefined;
    };
    measure();
    viewport.addEventListener('resize', measure);
    return () => {
      viewport.removeEventListener('resize', measure);
      style.removeProperty('--visible-height');
    };
  }, []);
}
