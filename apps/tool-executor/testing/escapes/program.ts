/**
 * A program that tries to escape. It returns a text that begins with `escaped` when it succeeds.
 * `control` is the naive sandbox (naive-process.ts) in which it does; null for programs that only a
 * broken engine would let escape.
 */
export type Program = [name: string, code: string, control: Control | null];

export type Control =
  /** `node:vm`, with objects of the host as arguments. */
  | 'vm'
  /** `node:vm`, with globals of Node and its module loader. */
  | 'node'
  /** `node:vm`, with a prelude that stores its secrets where handlers can read them. */
  | 'prelude'
  /** `node:vm`, where the program runs twice in one context. */
  | 'twice';

/** Code that reads the process through a `Function` of the host. */
export const use = `
  const use = (F) => {
    const report = (p) => "escaped to " + p.pid + " " + p.env.PARLEY_PLANTED_SECRET;
    const found = F("return process")();
    return found.then ? found.then(report) : report(found);
  };
`;
