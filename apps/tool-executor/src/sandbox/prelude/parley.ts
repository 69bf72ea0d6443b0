import type { PreludeHost } from './host';

/**
 * Creates `parley`, where every `parley.<name>.<name>(args)` is a tool call. Chat checks whether
 * the tool exists.
 */
export function createParley(host: PreludeHost): unknown {
  const call = async (tool: string, args: unknown = {}): Promise<unknown> => {
    // Created here, where the handler is still on the stack, so that the error has the
    // line of the handler.
    const error = Object.assign(new Error(), { name: 'ToolError' });
    const { value } = await host.request('tool', { tool, args }).answer;
    const answer = value as { ok: boolean; result: unknown; error: string; errorType: string };
    if (answer.ok) return answer.result;
    throw Object.assign(error, { message: answer.error, errorType: answer.errorType });
  };
  const named = (path: string): unknown => {
    const target = path === '' ? {} : (args?: unknown) => call(path, args);
    const made = new Map<string, unknown>();
    return new Proxy(target, {
      get(_target, name) {
        // `then` would make every `await parley.x` a tool call, and `toJSON` every log line.
        if (typeof name !== 'string' || name === 'then' || name === 'toJSON') return undefined;
        if (name === 'toString') return () => `[parley${path && `.${path}`}]`;
        if (!made.has(name)) made.set(name, named(path === '' ? name : `${path}.${name}`));
        return made.get(name);
      },
      set: () => false,
      defineProperty: () => false,
      getPrototypeOf: () => null,
    });
  };
  return named('');
}
