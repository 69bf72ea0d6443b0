const prefix = 'parley.';

/**
 * A text in the browser's storage. A browser that refuses storage keeps it for the
 * life of the page.
 */
export function stored(name: string) {
  let held: string | null = null;
  let isHeld = false;
  return {
    get(): string | null {
      if (isHeld) return held;
      try {
        return localStorage.getItem(prefix + name);
      } catch {
        return held;
      }
    },
    set(value: string | null): void {
      held = value;
      isHeld = false;
      try {
        if (value === null) localStorage.removeItem(prefix + name);
        else localStorage.setItem(prefix + name, value);
      } catch {
        // Private windows of some browsers, and full storage.
        isHeld = true;
      }
    },
  };
}

/** The ends of the names that are stored and begin with a name and a dot. */
export function storedBelow(name: string): string[] {
  const start = `${prefix}${name}.`;
  try {
    return Object.keys(localStorage).flatMap((key) =>
      key.startsWith(start) ? key.slice(start.length) : [],
    );
  } catch {
    return [];
  }
}
