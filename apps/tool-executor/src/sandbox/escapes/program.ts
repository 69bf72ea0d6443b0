/**
 * A program that looks for a way out: it returns a text that begins with `escaped` when it got what it came for. The
 * control is the careless sandbox (naive-sandbox.ts) in which it does; null where only a broken engine would let it.
 */
export type Program = [name: string, code: string, control: Control | null];

export type Control =
  /** `node:vm`, with objects of the host as arguments. */
  | 'vm'
  /** The same, with names of Node and its loader inside. */
  | 'node'
  /** The same, with the host's functions wrapped inside by code that keeps its secrets where handlers find them. */
  | 'prelude'
  /** `node:vm`, and the program runs twice in one context. */
  | 'twice';

/** Given a `Function` of the host's, takes its process. */
export const use = `
  const use = (F) => {
    const tell = (p) => "escaped to " + p.pid + " " + p.env.PARLEY_PLANTED_SECRET;
    const found = F("return process")();
    return found.then ? found.then(tell) : tell(found);
  };
`;
