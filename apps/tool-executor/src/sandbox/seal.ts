/** Members of `process` that are removed. The engine and Node itself need the others. */
const dangerous = [
  'binding',
  'chdir',
  'dlopen',
  'getBuiltinModule',
  'kill',
  'loadEnvFile',
  'mainModule',
  'openStdin',
  'report',
  'setegid',
  'seteuid',
  'setgid',
  'setgroups',
  'setuid',
  '_debugEnd',
  '_debugProcess',
  '_kill',
  '_linkedBinding',
  '_startProfilerIdleNotifier',
];
const unused = [
  'fetch',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
  'Worker',
  'BroadcastChannel',
  'MessageChannel',
];

/**
 * Permanently gives up the rights of root and dangerous functions of the runtime. The service sets
 * the limits on files, threads and memory before this (process-limits.ts).
 */
export function seal(uid: number | null): void {
  if (uid !== null) {
    process.setgroups?.([]);
    process.setgid?.(uid);
    process.setuid?.(uid);
  }
  const remove = (target: object, name: string): void => {
    try {
      Object.defineProperty(target, name, {
        value: undefined,
        writable: false,
        configurable: false,
      });
    } catch {
      // Some cannot be redefined. The other restrictions do not depend on this one.
    }
  };
  for (const name of dangerous) remove(process, name);
  for (const name of unused) remove(globalThis, name);
}
