import { useEffect, useRef } from 'react';

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

let pending = '';
let pendingAt = 0;

/**
 * Runs the handler of a key: `j`, `Enter`, `g c` (one after the other), `mod+k` (Ctrl or ⌘). Keys without `mod` are not
 * taken while the person writes or a dialog is open. A handler that returns false leaves the key to the browser.
 */
export function useKeys(handlers: Record<string, () => unknown>): void {
  const current = useRef(handlers);
  current.current = handlers;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const isModified = event.ctrlKey || event.metaKey;
      if (!isModified && (isWriting(event.target) || document.querySelector('dialog[open]'))) return;
      const key = (isModified ? 'mod+' : '') + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
      const sequence = event.timeStamp - pendingAt < 1_000 && pending !== '' ? `${pending} ${key}` : key;
      const handler = current.current[sequence] ?? current.current[key];
      if (handler === undefined || handler() === false) return;
      event.preventDefault();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}

/** Remembers the first key of a sequence, after all handlers of `useKeys`. */
export function startKeySequences(): () => void {
  const listen = (event: KeyboardEvent) => {
    pending = isWriting(event.target) || event.ctrlKey || event.metaKey || pending === 'g' ? '' : event.key;
    pendingAt = event.timeStamp;
  };
  const afterOthers = (event: KeyboardEvent) => void setTimeout(() => listen(event));
  window.addEventListener('keydown', afterOthers);
  return () => window.removeEventListener('keydown', afterOthers);
}
