import { useSyncExternalStore } from 'react';

const wide = window.matchMedia('(min-width: 48rem)');
const subscribe = (listener: () => void) => {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
};

/** Whether a grid has room. A phone shows the same rows as a list. */
export const useIsWide = (): boolean => useSyncExternalStore(subscribe, () => wide.matches);
