import type { IncomingMessage } from 'node:http';
import { requestHeaders } from './headers';

/** The names of the headers that are forwarded for a request with this Connection header. */
function forwarded(connection: string, rawHeaders: string[]): string[] {
  const request = { headers: { connection }, rawHeaders, socket: { remoteAddress: '203.0.113.9' } };
  const list = requestHeaders(request as unknown as IncomingMessage, {
    requestId: 'r',
    isTrusted: () => false,
  });
  return list
    .filter((_text, at) => at % 2 === 0)
    .filter((name) => !/^x-(forwarded|request)-/.test(name));
}

test('headers that Connection names are of the connection, whatever blanks are around their names', () => {
  const raw = ['X-One', '1', 'X-Two', '2', 'X-Three', '3'];
  expect(forwarded('x-one ,\t X-Two,,close', raw)).toEqual(['x-three']);
});

// A pattern that looks for a comma from each blank would take minutes.
test('a Connection header of blanks takes no quadratic time', () => {
  expect(forwarded(`a${' \t'.repeat(2_000_000)}b`, ['X-One', '1'])).toEqual(['x-one']);
});
