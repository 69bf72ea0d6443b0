/** A kind of message that WhatsApp shows a file in; other files are documents. */
export type FileKind = 'image' | 'audio' | 'video' | 'document';

interface FileType {
  contentType: string;
  kind: FileKind;
}

interface Signature extends FileType {
  /** Latin-1 text at the offset. A dot matches any byte. */
  bytes: string;
  offset?: number;
}

/**
 * The types that WhatsApp transmits, by their first bytes. Everything else is an unknown document.
 */
const signatures: readonly Signature[] = [
  { bytes: '\xff\xd8\xff', contentType: 'image/jpeg', kind: 'image' },
  { bytes: '\x89PNG\r\n\x1a\n', contentType: 'image/png', kind: 'image' },
  { bytes: 'GIF8', contentType: 'image/gif', kind: 'document' },
  { bytes: 'RIFF....WEBP', contentType: 'image/webp', kind: 'document' },
  { bytes: 'OggS', contentType: 'audio/ogg', kind: 'audio' },
  { bytes: 'ID3', contentType: 'audio/mpeg', kind: 'audio' },
  { bytes: '#!AMR', contentType: 'audio/amr', kind: 'audio' },
  { bytes: 'RIFF....WAVE', contentType: 'audio/wav', kind: 'document' },
  { bytes: 'ftypM4A', offset: 4, contentType: 'audio/mp4', kind: 'audio' },
  { bytes: 'ftyp3g', offset: 4, contentType: 'video/3gpp', kind: 'video' },
  { bytes: 'ftypqt', offset: 4, contentType: 'video/quicktime', kind: 'document' },
  { bytes: 'ftyp', offset: 4, contentType: 'video/mp4', kind: 'video' },
  { bytes: '%PDF-', contentType: 'application/pdf', kind: 'document' },
];

const unknown: FileType = { contentType: 'application/octet-stream', kind: 'document' };

/**
 * Reads the type of a file from its bytes. Its name and the type that its sender claims
 * are not considered.
 */
export function readFileType(bytes: Buffer): FileType {
  const head = bytes.toString('latin1', 0, 64);
  const found = signatures.find(({ bytes: expected, offset = 0 }) =>
    [...expected].every((char, index) => char === '.' || head[offset + index] === char),
  );
  if (found !== undefined) return { contentType: found.contentType, kind: found.kind };
  return isMpegFrame(bytes) ?? unknown;
}

/**
 * MP3 and AAC files without a tag begin with a frame: 11 set bits, then the layer,
 * which is 0 for AAC.
 */
function isMpegFrame(bytes: Buffer): FileType | null {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < 64 || first !== 0xff || (second & 0xe0) !== 0xe0) return null;
  if ((second & 0xf6) === 0xf0) return { contentType: 'audio/aac', kind: 'audio' };
  return (second & 0x06) === 0x02 ? { contentType: 'audio/mpeg', kind: 'audio' } : null;
}
