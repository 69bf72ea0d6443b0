import type { PreludeHost } from './host';

/**
 * Installs text encoding, base64, random values and digests. The process outside computes
 * them in native code.
 */
export function installBinary(host: PreludeHost): void {
  const bytesOf = (value: unknown): ArrayBuffer => {
    const bytes = value === undefined ? new ArrayBuffer(0) : host.bytesOf(value);
    if (bytes === null) throw new TypeError('Expected an ArrayBuffer or a view of one');
    return bytes;
  };

  class TextEncoder {
    readonly encoding = 'utf-8';
    encode(text = ''): Uint8Array {
      return new Uint8Array(host.call('encode', String(text)) as ArrayBuffer);
    }
    encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
      let [read, written] = [0, 0];
      for (const character of text) {
        const bytes = this.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        read += character.length;
        written += bytes.length;
      }
      return { read, written };
    }
  }

  class TextDecoder {
    readonly encoding: string;
    readonly fatal: boolean;
    readonly ignoreBOM: boolean;
    constructor(label = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
      this.fatal = options.fatal === true;
      this.ignoreBOM = options.ignoreBOM === true;
      this.encoding = (
        host.call('decode', { label: String(label) }, new ArrayBuffer(0)) as { encoding: string }
      ).encoding;
    }
    decode(value?: unknown): string {
      const options = { label: this.encoding, fatal: this.fatal, ignoreBOM: this.ignoreBOM };
      return (host.call('decode', options, bytesOf(value)) as { text: string }).text;
    }
  }

  const getRandomValues = <View extends ArrayBufferView>(view: View): View => {
    if (!ArrayBuffer.isView(view)) throw new TypeError('Expected a typed array');
    const random = new Uint8Array(host.call('random', view.byteLength) as ArrayBuffer);
    new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength).set(random);
    return view;
  };
  const hex = (bytes: Uint8Array): string => {
    let text = '';
    for (const byte of bytes) text += (byte + 0x100).toString(16).slice(1);
    return text;
  };
  const randomUUID = (): string => {
    const bytes = getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  };
  const digest = async (
    algorithm: string | { name: string },
    data: unknown,
  ): Promise<ArrayBuffer> =>
    host.call(
      'digest',
      String(typeof algorithm === 'object' ? algorithm.name : algorithm),
      bytesOf(data),
    ) as ArrayBuffer;

  // The engine seeds its own generator before the memory image is taken, so every run would have
  // the same numbers.
  let pool = new Uint32Array(0);
  let used = 0;
  Math.random = () => {
    if (used + 2 > pool.length) {
      pool = new Uint32Array(host.call('random', 256) as ArrayBuffer);
      used = 0;
    }
    return (pool[used++]! * 2 ** 21 + (pool[used++]! >>> 11)) / 2 ** 53;
  };

  // There is no second thread to share memory with.
  delete (globalThis as { SharedArrayBuffer?: unknown }).SharedArrayBuffer;

  host.define({
    TextEncoder,
    TextDecoder,
    atob: (text: unknown) => host.call('atob', String(text)),
    btoa: (text: unknown) => host.call('btoa', String(text)),
    crypto: { getRandomValues, randomUUID, subtle: { digest } },
  });
}
