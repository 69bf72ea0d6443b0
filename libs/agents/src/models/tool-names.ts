import { createHash } from 'node:crypto';

/** The longest function name that every provider accepts. */
const maxNameChars = 64;

/** A tool's name as every provider accepts it. */
export const encodeToolName = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_') || 'unnamed';
  if (plain.length <= maxNameChars) return plain;
  return `${plain.slice(0, maxNameChars - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
};

export type ToolNames = ReturnType<typeof createToolNames>;

/**
 * Converts tool names to names that a provider accepts, and back: dots become `_`. When two tools
 * would get the same name (`order.find` and `order_find`), the tool whose name needs no change
 * keeps it, and the other gets a number. `others` are tools that are not offered; if a model calls
 * one, the error names it correctly.
 */
export function createToolNames(names: readonly string[], others: readonly string[] = []) {
  const toNames = new Map<string, string>();
  const fromNames = new Map<string, string>();
  const unchangedFirst = [...names].sort(
    (a, b) => Number(encodeToolName(a) !== a) - Number(encodeToolName(b) !== b),
  );
  for (const name of unchangedFirst) {
    if (toNames.has(name)) continue;
    let encoded = encodeToolName(name);
    for (let n = 2; fromNames.has(encoded); n += 1)
      encoded = `${encodeToolName(name).slice(0, maxNameChars - 4)}__${n}`;
    toNames.set(name, encoded);
    fromNames.set(encoded, name);
  }
  for (const name of others)
    if (!toNames.has(name) && !fromNames.has(encodeToolName(name)))
      fromNames.set(encodeToolName(name), name);
  return {
    toProvider: (name: string): string => toNames.get(name) ?? encodeToolName(name),
    /** An unknown name is returned unchanged, so that the error names it. */
    fromProvider: (name: string): string => fromNames.get(name) ?? name,
  };
}
