import { createColors } from 'picocolors';
import { safeLine, safeOutput, safeText } from './safe-text';

const colors = createColors(true);

test('control characters and marks of direction are printed as escapes', () => {
  const escapes = {
    '\u001b': '\\u001b',
    '\u0000': '\\u0000',
    '\u009b': '\\u009b',
    '\u202e': '\\u202e',
    '\u2069': '\\u2069',
  };
  for (const [character, escape] of Object.entries(escapes)) {
    expect(safeText(`a${character}b`)).toBe(`a${escape}b`);
    expect(safeOutput(`a${character}b`)).toBe(`a${escape}b`);
  }
  expect(safeText('a\n\tb\r\nc')).toBe('a\n\tb\nc');
  expect(safeLine(' a\n\tb\r\nc ')).toBe('a b c');
});

test('JSON keeps its meaning', () => {
  const value = { '\u202e': '\u009b\u007f\u2028' };
  expect(JSON.parse(safeText(JSON.stringify(value)))).toEqual(value);
});

test('an output keeps the colours of the program, and no sequence that hides text or moves the cursor', () => {
  const { bold, dim, red, green, yellow, cyan } = colors;
  for (const colour of [bold, dim, red, green, yellow, cyan])
    expect(safeOutput(colour('text'))).toBe(colour('text'));
  for (const sequence of [
    '\u001b[8m',
    '\u001b[2J',
    '\u001b[31;8m',
    '\u001b[H',
    '\u001b]0;title\u0007',
    '\u001b[7m',
  ])
    expect(safeOutput(`a${sequence}b`)).not.toContain('\u001b');
});
