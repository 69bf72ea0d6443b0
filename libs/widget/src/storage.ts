type Kind = 'localStorage' | 'sessionStorage';

/** Reads a stored text. A browser may refuse to store anything: then there is none. */
export function readStored(kind: Kind, key: string): string | undefined {
  try {
    return globalThis[kind].getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a text, or removes it, if the browser allows it. */
export function store(kind: Kind, key: string, text: string | null): void {
  try {
    if (text === null) globalThis[kind].removeItem(key);
    else globalThis[kind].setItem(key, text);
  } catch {
    // Then the next page has a new thread.
  }
}
