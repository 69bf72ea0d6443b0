import { createHash } from 'node:crypto';

/** The longest function name that every provider accepts. */
const maxNameChars = 64;

const encode = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_') || 'unnamed';
  if (plain.length <= maxNameChars) return plain;
  return `${plain.slice(0, maxNameChars - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
};

export type ToolNames = ReturnType<typeof createToolNames>;

/**
 * Converts tool names to names that a provider accepts, and back: dots become `_`. When two tools would get the same name
 * (`order.find` and `order_find`), the tool whose name needs no change keeps it, and the other gets a number. `others` are
 * tools that are not offered; if a model calls one, the error names it correctly.
 */
export function createToolNames(names: readonly string[], others: readonly string[] = []) {
  const toNames = new Map<string, string>();
  const fromNames = new Map<string, string>();
  const unchangedFirst = [...names].sort((a, b) => Number(encode(a) !== a) - Number(encode(b) !== b));
  for (const name of unchangedFirst) {
    if (toNames.has(name)) continue;
    let encoded = encode(name);
    for (let n = 2; fromNames.has(encoded); n += 1) encoded = `${encode(name).slice(0, maxNameChars - 4)}__${n}`;
    toNames.set(name, encoded);
    fromNames.set(encoded, name);
  }
  for (const name of others) if (!toNames.has(name) && !fromNames.has(encode(name))) fromNames.set(encode(name), name);
  return {
    toProvider: (name: string): string => toNames.get(name) ?? encode(name),
    /** An unknown name is returned unchanged, so that the error names it. */
    fromProvider: (name: string): string => fromNames.get(name) ?? name,
  };
}
