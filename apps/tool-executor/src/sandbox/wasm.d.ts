/** Inlined by the bundler (`binary` loader): the sandbox process may read no file. */
declare module '@jitl/quickjs-wasmfile-release-sync/wasm' {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}

/** The part of WebAssembly's types that is used; they otherwise come with the DOM's, which nothing here has. */
declare namespace WebAssembly {
  type Exports = Record<string, unknown>;
  class Memory {
    constructor(limits: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: object);
    readonly exports: Exports;
  }
}
