import type { PreludeHost } from './host';

/**
 * Installs `console`, which writes to the `logs` of the answer. The process outside
 * enforces the limit.
 */
export function installConsole(host: PreludeHost): void {
  let isOpen = true;
  const maxDepth = 4;
  const maxItems = 100;
  const maxChars = 10_000;

  const show = (value: unknown, depth: number): string => {
    if (typeof value === 'string') return depth === 0 ? value : JSON.stringify(value);
    if (typeof value === 'function') return `[Function ${value.name || 'anonymous'}]`;
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value !== 'object' || value === null) return String(value);
    if (value instanceof Error)
      return depth === 0 && value.stack ? `${value}\n${value.stack}`.trimEnd() : String(value);
    if (depth >= maxDepth) return Array.isArray(value) ? '[Array]' : '[Object]';
    if (value instanceof Date) return String(value);
    if (value instanceof Map) return `Map ${show([...value], depth)}`;
    if (value instanceof Set) return `Set ${show([...value], depth)}`;
    const keys = Object.keys(value);
    const shown = keys.slice(0, maxItems).map((key) => {
      const item = show((value as Record<string, unknown>)[key], depth + 1);
      return Array.isArray(value) ? item : `${key}: ${item}`;
    });
    if (keys.length > maxItems) shown.push(`… ${keys.length - maxItems} more`);
    return Array.isArray(value) ? `[${shown.join(', ')}]` : `{ ${shown.join(', ')} }`;
  };

  const write = (level: string, values: unknown[]): void => {
    if (!isOpen) return;
    const message = values
      .map((value) => {
        try {
          return show(value, 0);
        } catch {
          return '[unprintable]';
        }
      })
      .join(' ')
      .slice(0, maxChars);
    isOpen = host.call('log', { level, message }) as boolean;
  };

  const console: Record<string, unknown> = {};
  for (const level of ['debug', 'log', 'info', 'warn', 'error']) {
    console[level] = (...values: unknown[]) => write(level, values);
  }
  console.trace = console.debug;
  console.assert = (isTrue: unknown, ...values: unknown[]) => {
    if (!isTrue) write('error', ['Assertion failed:', ...values]);
  };
  host.define({ console });
}
