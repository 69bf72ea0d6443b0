import { createAnswerPace } from './answer-pace';

const mebibyte = 1_048_576;
const never = () => new AbortController().signal;

/** A pace of 8 MiB a second whose clock moves when the test says so. */
function startPace() {
  let clockMs = 1_000;
  const waits: number[] = [];
  const pace = createAnswerPace({
    bytesPerSecond: 8 * mebibyte,
    nowMs: () => clockMs,
    wait: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
    },
  });
  const move = (ms: number) => {
    clockMs += ms;
  };
  /** A read whose answer has a size. Returns how long it waited. */
  const read = async (key: string, bytes: number): Promise<number> => {
    const before = waits.length;
    const reserved = await pace.reserve(key, never);
    pace.answered(key, bytes, reserved);
    return waits.slice(before).reduce((sum, ms) => sum + ms, 0);
  };
  return { pace, move, read, waits };
}

test('small answers never wait, however many there are', async () => {
  const { read } = startPace();
  for (let n = 0; n < 1_000; n += 1) expect(await read('one', 256 * 1_024)).toBe(0);
});

test('the answer after a large one waits until that one has had its time, those of other keys do not', async () => {
  const { read, move } = startPace();
  expect(await read('one', 4 * mebibyte)).toBe(0);
  expect(await read('two', 4 * mebibyte)).toBe(0);
  move(100);
  expect(await read('one', 4 * mebibyte)).toBe(400);
  move(900);
  expect(await read('one', 100)).toBe(0);
});

test('reads that wait together begin one after the other, and a small answer gives its time back', async () => {
  const { pace, read, waits } = startPace();
  await read('one', 4 * mebibyte);
  const reserved = await Promise.all([pace.reserve('one', never), pace.reserve('one', never)]);
  expect(waits).toEqual([500, 1_000]);
  pace.answered('one', 2 * mebibyte, reserved[0]);
  pace.answered('one', 10, reserved[1]);
  expect(await read('one', 10)).toBe(750);
});

test('large answers that were sent together make the next one wait 5 s at most', async () => {
  const { pace, read } = startPace();
  for (let n = 0; n < 8; n += 1) pace.answered('one', 7 * mebibyte, 0);
  expect(await read('one', 10)).toBe(5_000);
});

test('a read is refused while others wait that take more than 5 s', async () => {
  const { pace, read, waits, move } = startPace();
  await read('one', 24 * mebibyte);
  await pace.reserve('one', never);
  await expect(pace.reserve('one', never)).rejects.toMatchObject({
    status: 429,
    code: 'too_many_large_answers',
  });
  expect(waits).toEqual([3_000]);
  move(1_500);
  expect(await read('one', 10)).toBe(4_500);
});

test('a read whose client has disconnected gives its time back', async () => {
  const { pace, read } = startPace();
  await read('one', mebibyte);
  await expect(pace.reserve('one', () => AbortSignal.abort())).rejects.toMatchObject({
    status: 429,
  });
  expect(await read('one', 10)).toBe(125);
});

test('pieces of a long answer wait for the ones before', async () => {
  const { pace, waits, move } = startPace();
  await pace.piece('one', mebibyte, never());
  await pace.piece('one', 2 * mebibyte, never());
  move(375);
  await pace.piece('one', mebibyte, never());
  expect(waits).toEqual([125]);
  await expect(pace.piece('one', 1, AbortSignal.abort())).rejects.toThrow();
});
