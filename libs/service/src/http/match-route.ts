import type { Route } from './route';

export interface Match {
  route: Route;
  params: Record<string, string>;
}

interface Pattern {
  route: Route;
  /** The text that each segment must equal; null for a parameter. */
  literals: (string | null)[];
  names: string[];
}

/**
 * Finds the route of a plain request faster than Express, whose matching takes as long as the rest
 * of a request (docs/adr/0007). Returns null for all other requests (escapes, empty segments, other
 * methods, HEAD); Express has the same routes and handles them.
 */
export function createMatcher(
  routes: readonly Route[],
): (method: string, url: string) => Match | null {
  const table = new Map<string, Pattern[]>();
  for (const route of routes) {
    const segments = route.path.slice(1).split('/');
    if (!segments.every((segment) => /^:?[\w.-]+$/.test(segment))) continue;
    const pattern: Pattern = {
      route,
      literals: segments.map((segment) => (segment.startsWith(':') ? null : segment)),
      names: segments.map((segment) => segment.slice(1)),
    };
    const key = `${route.method.toUpperCase()} ${segments.length}`;
    table.set(key, [...(table.get(key) ?? []), pattern]);
  }

  return (method, url) => {
    const end = url.indexOf('?');
    const path = end === -1 ? url : url.slice(0, end);
    if (path.charCodeAt(0) !== 47 || path.includes('%')) return null;
    const segments = path.slice(1).split('/');
    const candidates = table.get(`${method} ${segments.length}`);
    if (candidates === undefined) return null;
    for (const { route, literals, names } of candidates) {
      const params: Record<string, string> = {};
      let at = 0;
      for (; at < literals.length; at += 1) {
        const segment = segments[at]!;
        if (literals[at] === null) {
          if (segment === '') return null;
          params[names[at]!] = segment;
        } else if (literals[at] !== segment) break;
      }
      if (at === literals.length) return { route, params };
    }
    return null;
  };
}
