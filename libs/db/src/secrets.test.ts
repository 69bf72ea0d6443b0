import { randomBytes } from 'node:crypto';
import { createSecretBox } from './secrets';

const newKey = () => randomBytes(32).toString('base64');

describe('createSecretBox', () => {
  const box = createSecretBox(newKey());

  it('decrypts what it has encrypted, and encrypts a value differently each time', () => {
    const sealed = box.seal('clave secreta ✓', 'org_1:flow');
    expect(box.open(sealed, 'org_1:flow')).toBe('clave secreta ✓');
    expect(sealed.includes('clave')).toBe(false);
    expect(box.seal('clave secreta ✓', 'org_1:flow').equals(sealed)).toBe(false);
  });

  it('refuses a value that was copied to another row', () => {
    expect(() => box.open(box.seal('x', 'org_1:flow'), 'org_2:flow')).toThrow();
  });

  it('refuses a value of which one byte was changed', () => {
    const sealed = box.seal('value', 'context');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => box.open(changed, 'context')).toThrow();
    }
  });

  it('decrypts with each key, encrypts with the first, and reports values of older keys as stale', () => {
    const [older, newer] = [newKey(), newKey()];
    const sealed = createSecretBox(older).seal('value', 'context');
    const rotated = createSecretBox(`${newer}, ${older}`);
    expect(rotated.open(sealed, 'context')).toBe('value');
    expect(rotated.isStale(sealed)).toBe(true);
    const again = rotated.seal('value', 'context');
    expect(rotated.isStale(again)).toBe(false);
    expect(createSecretBox(newer).open(again, 'context')).toBe('value');
    expect(() => createSecretBox(newer).open(sealed, 'context')).toThrow(
      'No key in SECRETS_KEY decrypts this secret',
    );
  });

  it('has keys of its own for a purpose, which are rotated as the others', () => {
    const [older, newer] = [newKey(), newKey()];
    const sealed = createSecretBox(older, 'cookies').seal('value', 'context');
    expect(createSecretBox(`${newer},${older}`, 'cookies').open(sealed, 'context')).toBe('value');
    for (const other of [
      createSecretBox(older),
      createSecretBox(older, 'links'),
      createSecretBox(newer, 'cookies'),
    ])
      expect(other.tryOpen(sealed, 'context')).toBeNull();
    expect(
      createSecretBox(older, 'cookies').tryOpen(
        createSecretBox(older).seal('value', 'context'),
        'context',
      ),
    ).toBeNull();
  });

  it('reports the required form of a malformed key', () => {
    expect(() => createSecretBox('short')).toThrow('SECRETS_KEY must be 32 bytes in base64');
  });
});
