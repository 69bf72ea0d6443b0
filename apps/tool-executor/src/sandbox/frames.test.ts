import fc from 'fast-check';
import { type Frame, createFrameReader, encodeFrame } from './frames';

it('reads every frame that was written, however the stream is split', () => {
  const frames = fc.array(
    fc.record({ head: fc.jsonValue(), bytes: fc.uint8Array({ maxLength: 300 }) }),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(
      frames,
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      (written, cuts) => {
        const stream = Buffer.concat(written.map(encodeFrame));
        const read: Frame<unknown>[] = [];
        const take = createFrameReader((frame) =>
          read.push({ ...frame, bytes: frame.bytes && Buffer.from(frame.bytes) }),
        );
        for (let at = 0, turn = 0; at < stream.length; turn++) {
          const end = at + cuts[turn % cuts.length]!;
          take(stream.subarray(at, end));
          at = end;
        }
        expect(read.map(({ head, bytes }) => [JSON.stringify(head), [...(bytes ?? [])]])).toEqual(
          written.map(({ head, bytes }) => [JSON.stringify(head), [...bytes]]),
        );
      },
    ),
  );
});

it.each([
  ['a frame above the maximum size', [0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0]],
  ['a frame that is too short', [1, 0, 0, 0, 0, 0, 0, 0]],
  ['a head longer than the frame', [6, 0, 0, 0, 9, 0, 0, 0, 123, 125]],
  ['a head that is not JSON', [6, 0, 0, 0, 2, 0, 0, 0, 120, 120]],
])('refuses %s', (_name, bytes) => {
  const take = createFrameReader(() => undefined);
  expect(() => take(Buffer.from(bytes))).toThrow();
});
