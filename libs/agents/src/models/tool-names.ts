import { createHash } from 'node:crypto';

/** What every provider accepts as the name of a function. */
const maxNameChars = 64;

const encode = (name: string): string => {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, '_') || 'unnamed';
  if (plain.length <= maxNameChars) return plain;
  return `${plain.slice(0, maxNameChars - 9)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
};

export interface ToolNames {
  toProvider(name: string): string;
  /** A name that no offered tool has comes back as it is, to be refused by name. */
  fromProvider(name: string): string;
}

/**
 * Names of tools towards a provider and back: dots become `_`. Two tools whose names would then be one (`order.find`
 * and `order_find`) stay apart: the one that needs no change keeps its name. `others` are tools that exist but are not
 * offered: a model that calls one all the same is refused by its proper name.
 */
export function createToolNames(names: readonly string[], others: readonly string[] = []): ToolNames {
  const there = new Map<string, string>();
  const back = new Map<string, string>();
  const unchangedFirst = [...names].sort((a, b) => Number(encode(a) !== a) - Number(encode(b) !== b));
  for (const name of unchangedFirst) {
    if (there.has(name)) continue;
    let encoded = encode(name);
    for (let n = 2; back.has(encoded); n += 1) encoded = `${encode(name).slice(0, maxNameChars - 4)}__${n}`;
    there.set(name, encoded);
    back.set(encoded, name);
  }
  for (const name of others) if (!there.has(name) && !back.has(encode(name))) back.set(encode(name), name);
  return {
    toProvider: (name) => there.get(name) ?? encode(name),
    fromProvider: (name) => back.get(name) ?? name,
  };
}
