import fc from 'fast-check';
import { newId } from './id';

describe('newId', () => {
  it('has the prefix and 26 characters of Crockford base32', () => {
    expect(newId('ent')).toMatch(/^ent_[0-9a-hjkmnp-tv-z]{26}$/);
  });

  it('sorts in the order of creation, even when the clock is set back', () => {
    let nowMs = Date.now() + 1_000_000;
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 2, maxLength: 50 }),
        (steps) => {
          const ids = steps.map((step) => newId('x', (nowMs += step)));
          expect([...ids].sort()).toEqual(ids);
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
    );
  });

  it('sorts more than 65,536 ids of one millisecond', () => {
    const nowMs = Date.now() + 10_000_000;
    const ids = Array.from({ length: 70_000 }, () => newId('x', nowMs));
    expect(ids.every((id, index) => index === 0 || ids[index - 1]! < id)).toBe(true);
  });
});
