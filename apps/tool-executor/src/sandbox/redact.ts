/** What a run's texts and results go through before they leave the process. */
export interface Redactor {
  /** Replaces each secret by `[secret NAME]`. */
  text(text: string): string;
  /** The same in all keys, strings and numbers of a JSON value. */
  json(value: unknown): unknown;
  /** The name of a secret that a JSON value contains; null if it contains none. */
  find(value: unknown): string | null;
}

/**
 * The engine cuts messages of its own errors at this size; the prelude cuts only longer texts. A
 * secret may be cut, too.
 */
const cutBytes = 255;
/**
 * Where a text may have been cut, except its end: the console writes the stack of an error
 * after its message.
 */
const cutAt = /(?=\n +at )/;
/** Beginnings of a secret that are shorter are not recognized where a text was cut. */
const minChars = 4;

/**
 * Replaces secrets in everything that a handler returns. It prevents accidents: a handler that
 * encodes a secret in another way can return it. Runs in the sandbox process, where its time counts
 * as the handler's.
 */
export function createRedactor(secrets: Readonly<Record<string, string>>): Redactor {
  const forms = Object.entries(secrets)
    .flatMap(([name, value]) => [...formsOf(value)].map((form) => ({ name, form })))
    .sort((one, other) => other.form.length - one.form.length);

  function text(given: string): string {
    const found = forms
      .map(({ name, form }) => ({ name, form, at: given.indexOf(form) }))
      .filter(({ at }) => at >= 0);
    let redacted = '';
    let from = 0;
    // One pass, so that a secret is not looked for in the name of another.
    while (found.length > 0) {
      // The longest of those that begin first, as they are ordered by length.
      const next = found.reduce((first, one) => (one.at < first.at ? one : first));
      redacted += `${given.slice(from, next.at)}[secret ${next.name}]`;
      from = next.at + next.form.length;
      for (let index = found.length - 1; index >= 0; index--) {
        const one = found[index]!;
        if (one.at < from) one.at = given.indexOf(one.form, from);
        if (one.at < 0) found.splice(index, 1);
      }
    }
    redacted += given.slice(from);
    return Buffer.byteLength(given) >= cutBytes
      ? redacted.split(cutAt).map(withoutBeginning).join('')
      : redacted;
  }

  /** Replaces the beginning of a secret at the end of a text. */
  function withoutBeginning(rest: string): string {
    for (const { name, form } of forms)
      for (let chars = Math.min(form.length - 1, rest.length); chars >= minChars; chars--)
        if (rest.endsWith(form.slice(0, chars))) return `${rest.slice(0, -chars)}[secret ${name}]`;
    return rest;
  }

  function json(value: unknown): unknown {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number')
      return text(String(value)) === String(value) ? value : text(String(value));
    if (Array.isArray(value)) return value.map(json);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [text(key), json(inner)]),
    );
  }

  function find(value: unknown): string | null {
    if (typeof value === 'string' || typeof value === 'number')
      return forms.find(({ form }) => String(value).includes(form))?.name ?? null;
    if (typeof value !== 'object' || value === null) return null;
    for (const [key, inner] of Object.entries(value)) {
      const name = find(key) ?? find(inner);
      if (name !== null) return name;
    }
    return null;
  }

  return { text, json, find };
}

/** A secret as it is, and its forms in JSON text and in the parts of an address. */
function formsOf(value: string): Set<string> {
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const { password } = Object.assign(new URL('https://a'), { username: 'a', password: value });
  const [path, query] = ['https://a/a', 'https://a/?'].map((start) =>
    new URL(`${start}${value}a`).href.slice(start.length, -1),
  );
  const forms = [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    form,
    password,
    path!,
    query!,
  ];
  // The path is shorter where the value contains segments such as `..`.
  return new Set(forms.filter((one) => one.length >= minChars));
}
