/** What is left of `process` after sealing: the engine's glue and the runtime's own internals need the rest of it. */
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
const unused = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest', 'Worker', 'BroadcastChannel', 'MessageChannel'];

/**
 * Gives up what a sandbox process does not need, for good: root, and the doors of the runtime. The limits on files,
 * threads and memory are put on from outside (process-limits.ts), before this.
 */
export function seal(uid: number | null): void {
  if (uid !== null) {
    process.setgroups?.([]);
    process.setgid?.(uid);
    process.setuid?.(uid);
  }
  const remove = (target: object, name: string): void => {
    try {
      Object.defineProperty(target, name, { value: undefined, writable: false, configurable: false });
    } catch {
      // Some are already fixed; the walls outside do not depend on this one.
    }
  };
  for (const name of dangerous) remove(process, name);
  for (const name of unused) remove(globalThis, name);
}
