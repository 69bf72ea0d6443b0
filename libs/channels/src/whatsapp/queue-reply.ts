import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { addBlob, maxBlobBytes } from '../media/blobs';
import { type FileKind, readFileType } from '../media/read-file-type';
import { latestNumberOf } from './contacts';
import { findSender, windowEndsAt } from './conversation';
import { queueMessage } from './outbox';
import { requestOf } from './request-of';
import { contactOfThread } from './thread-key';

/** What a person sends to a contact: a text, a template, or one file with an optional text. */
export type ReplyContent =
  | { kind: 'text'; text: string }
  | { kind: 'template'; name: string; language: string; components?: JsonObject[] }
  | { kind: 'file'; filename: string; bytes: Buffer; text?: string };

export type QueuedReply =
  /**
   * `text`: what the thread shows. `isNew`: false when an earlier call with the key has queued it.
   */
  | { ok: true; id: string; text: string; contentType: string | null; isNew: boolean }
  /** The thread is not one of a WhatsApp contact. */
  | { ok: false; reason: 'no_channel' }
  /** More than 24 hours since the contact's last message: only a template may be sent. */
  | { ok: false; reason: 'window_closed' }
  /** WhatsApp does not transmit a file of this size or kind. */
  | { ok: false; reason: 'file_refused'; message: string }
  | { ok: false; reason: 'no_sender'; message: string };

/** What WhatsApp accepts, in bytes. A larger picture, sound or video is sent as a document. */
const maxBytesOf: Readonly<Record<FileKind, number>> = {
  image: 5 * 1024 * 1024,
  audio: 16 * 1024 * 1024,
  video: 16 * 1024 * 1024,
  document: maxBlobBytes,
};

/**
 * Adds a person's reply to the outbox of the contact of a thread, in the transaction that stores it
 * in the thread. A repeated `key` adds nothing. The worker sends it: at once with the job
 * `send-message`, else at its next sweep.
 */
export async function queueReply(
  tx: Queryable,
  scope: Scope,
  {
    thread,
    content,
    key,
  }: { thread: { id: string; externalId: string | null }; content: ReplyContent; key: string },
): Promise<QueuedReply> {
  const contact = contactOfThread(thread.externalId);
  if (contact === null) return { ok: false, reason: 'no_channel' };
  const found = await findSender(tx, scope, { contact });
  if (!found.ok) return { ok: false, reason: 'no_sender', message: found.message };
  const { connectionId } = found.sender;
  if (
    content.kind !== 'template' &&
    (await windowEndsAt(tx, scope, { contact, connectionId })) === null
  )
    return { ok: false, reason: 'window_closed' };
  const made = messageOf(content);
  if ('problem' in made) return { ok: false, reason: 'file_refused', message: made.problem };
  const { type, body, text, file } = made;
  const name = (await latestNumberOf(tx, scope, contact)) ?? contact;
  const { id, isNew } = await queueMessage(tx, scope, {
    connectionId,
    contact,
    type,
    text,
    request: requestOf(name, type, body),
    threadId: thread.id,
    key,
  });
  if (file !== null && isNew) await addBlob(tx, scope, { messageId: id, ...file });
  return { ok: true, id, text: text ?? `[${type}]`, contentType: file?.contentType ?? null, isNew };
}

export interface ThreadContact {
  id: string;
  /** Null while only scoped ids are known. */
  phoneNumber: string | null;
  /** Entity type of the contacts of the connection. */
  contactType: string | null;
  /**
   * Until when a person may reply without a template. Null: the window is closed, or no
   * number is connected.
   */
  windowEndsAt: Date | null;
}

/** The contact of a thread of WhatsApp, by its external id; null for other threads. */
export async function readThreadContact(
  db: Queryable,
  scope: Scope,
  externalId: string | null,
): Promise<ThreadContact | null> {
  const id = contactOfThread(externalId);
  if (id === null) return null;
  const [phoneNumber, found] = await Promise.all([
    latestNumberOf(db, scope, id),
    findSender(db, scope, { contact: id }),
  ]);
  if (!found.ok) return { id, phoneNumber, contactType: null, windowEndsAt: null };
  const { connectionId, contactType } = found.sender;
  const endsAt = await windowEndsAt(db, scope, { contact: id, connectionId });
  return { id, phoneNumber, contactType, windowEndsAt: endsAt };
}

interface Made {
  type: string;
  body: JsonObject;
  text: string | null;
  file: { filename: string; contentType: string; bytes: Buffer } | null;
}

function messageOf(content: ReplyContent): Made | { problem: string } {
  switch (content.kind) {
    case 'text':
      return {
        type: 'text',
        body: { body: content.text, preview_url: false },
        text: content.text,
        file: null,
      };
    case 'template': {
      const { name, language, components } = content;
      const body: JsonObject = {
        name,
        language: { code: language },
        ...(components !== undefined && { components }),
      };
      return { type: 'template', body, text: `[template ${name}]`, file: null };
    }
    case 'file':
      return fileMessageOf(content);
  }
}

/**
 * The request has no file yet: the provider's id of the file is added after the upload
 * (send-message.ts).
 */
function fileMessageOf({
  filename,
  bytes,
  text,
}: Extract<ReplyContent, { kind: 'file' }>): Made | { problem: string } {
  if (bytes.length === 0) return { problem: 'The file is empty' };
  if (bytes.length > maxBlobBytes)
    return { problem: `The file is larger than ${maxBlobBytes} bytes` };
  const { contentType, kind } = readFileType(bytes);
  const type = bytes.length <= maxBytesOf[kind] ? kind : 'document';
  const name = filename.replace(/[\p{Cc}/\\]/gu, '_').slice(-200);
  if (type === 'audio' && text !== undefined)
    return { problem: 'A voice note or sound has no text beside it' };
  const body = {
    ...(text !== undefined && { caption: text }),
    ...(type === 'document' && { filename: name }),
  };
  return { type, body, text: text ?? null, file: { filename: name, contentType, bytes } };
}
