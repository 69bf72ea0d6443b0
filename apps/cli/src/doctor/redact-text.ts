/** Shorter values, such as `true` or a port, are no secrets and would be found everywhere. */
const minSecretLength = 6;

const patterns: readonly [RegExp, string][] = [
  [/\b(?:sk|pk|rk|re|whsec|xox[bp])[_-][\w+/=-]{8,}/g, '[key]'],
  [/\bBearer\s+[^\s"]+/gi, 'Bearer [key]'],
  // Each begins where a word begins. Otherwise a long word would be read again from each
  // of its characters.
  [/((?<![a-z0-9+])[a-z][a-z0-9+]*:\/\/)[^\s/@"]+@/gi, '$1[user]@'],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, '[e-mail]'],
  [/(?<![\w.])\+?\d[\d ()-]{6,17}\d(?![\w.])/g, '[number]'],
  [/(?<![\w/+=-])[\w/+=-]{40,}(?![\w/+=-])/g, '[token]'],
];

/**
 * Returns a function that replaces these secrets, and what looks like a key, an e-mail address
 * or a phone number.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const without = known.reduce((left, secret) => left.replaceAll(secret, '[secret]'), text);
    return patterns.reduce(
      (left, [pattern, replacement]) => left.replace(pattern, replacement),
      without,
    );
  };
}
