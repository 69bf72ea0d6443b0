/** Inlined by the bundler (`binary` loader), because the sandbox process may read no file. */
declare module '@jitl/quickjs-wasmfile-release-sync/wasm' {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}

/**
 * The types of WebAssembly that are used. TypeScript has them only in the DOM library,
 * which is not loaded.
 */
declare namespace WebAssembly {
  type Exports = Record<string, unknown>;
  class Memory {
    constructor(limits: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: object);
    readonly exports: Exports;
  }
}
