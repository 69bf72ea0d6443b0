import { useEffect, useRef } from 'react';
import { KeySequence, keyName } from './key-sequence';

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const sequence = new KeySequence();

/**
 * Runs the handler of a key: `j`, `Enter`, `g c` (one after the other), `mod+k` (Ctrl or ⌘). Keys
 * without `mod` are not taken while the person writes or a dialog is open. A handler that returns
 * false leaves the key to the browser.
 */
export function useKeys(handlers: Record<string, () => unknown>): void {
  const current = useRef(handlers);
  current.current = handlers;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey) return;
      const isModified = event.ctrlKey || event.metaKey;
      if (!isModified && (isWriting(event.target) || document.querySelector('dialog[open]')))
        return;
      const handler = current.current[sequence.pressed] ?? current.current[keyName(event)];
      if (handler === undefined || handler() === false) return;
      event.preventDefault();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, []);
}

/**
 * Reads sequences of keys before the handlers of `useKeys`, and lets Escape leave a field, so that
 * the keys can be used.
 */
export function startKeys(): () => void {
  const read = (event: KeyboardEvent) => sequence.read(event, isWriting(event.target));
  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || event.defaultPrevented || !isWriting(event.target)) return;
    if (!document.querySelector('dialog[open]')) (event.target as HTMLElement).blur();
  };
  window.addEventListener('keydown', read, { capture: true });
  window.addEventListener('keydown', leave);
  return () => {
    window.removeEventListener('keydown', read, { capture: true });
    window.removeEventListener('keydown', leave);
  };
}
