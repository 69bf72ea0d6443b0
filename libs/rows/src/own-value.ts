/** As in libs/contracts, whose code is too large for a page. */
export const ownValue = <T>(from: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(from, name) ? from[name] : undefined;

export function setOwn<T>(to: Record<string, T>, name: string, value: T): void {
  Object.defineProperty(to, name, { value, enumerable: true, configurable: true, writable: true });
}
