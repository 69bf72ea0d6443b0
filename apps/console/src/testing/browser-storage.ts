/**
 * The `localStorage` of a browser, which Node.js lacks. Its texts are its own properties.
 * `maxLength`: of each text.
 */
export function browserStorage(maxLength = Infinity): Storage {
  const methods = {
    getItem(this: Record<string, string>, name: string): string | null {
      return Object.hasOwn(this, name) ? this[name]! : null;
    },
    setItem(this: Record<string, string>, name: string, text: string): void {
      if (text.length > maxLength)
        throw new DOMException('The quota has been exceeded', 'QuotaExceededError');
      this[name] = text;
    },
    removeItem(this: Record<string, string>, name: string): void {
      delete this[name];
    },
  };
  return Object.create(methods) as Storage;
}
