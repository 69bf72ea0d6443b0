/**
 * The own value of an object by a name that others chose. Names such as `constructor` find
 * nothing inherited.
 */
export const ownValue = <T>(from: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(from, name) ? from[name] : undefined;

/** Sets an own value by such a name: an assignment to `__proto__` would set the prototype. */
export function setOwn<T>(to: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(to, name, { value, enumerable: true, configurable: true, writable: true });
}
