const secretName = /(token|secret|password|authorization|api_?key|secret_?key)$/i;

/**
 * Masks secrets in a delivery's body. Returns parsed JSON, or the text of a body that is not JSON.
 */
export function maskBody(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return mask(JSON.parse(text));
  } catch {
    return text.replace(/(^|&)((?:token|s)=)[^&]*/g, '$1$2***');
  }
}

function mask(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mask);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretName.test(name) && typeof member === 'string' ? '***' : mask(member),
    ]),
  );
}
