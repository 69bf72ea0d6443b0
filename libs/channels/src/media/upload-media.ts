import { type JsonObject, objectAt } from '@parley/contracts';
import { type Queryable, statement } from '@parley/db';
import type { KapsoAnswer, KapsoClient } from '../kapso/kapso-client';
import type { ClaimedMessage } from '../whatsapp/outbox';
import { readBlob } from './blobs';

const noteUpload = statement(
  'note-uploaded-media',
  `update messages set payload = jsonb_set(payload, array[type, 'id'], to_jsonb($media::text)), updated_at = now()
   where tenant = $tenant and id = $id`,
);

/**
 * Completes the request of a message with a file: uploads the file and adds the provider's id of
 * it, once. An upload reaches no contact, so a repeated one is harmless.
 */
export async function withUploadedMedia(
  db: Queryable,
  client: KapsoClient,
  message: ClaimedMessage,
): Promise<KapsoAnswer<JsonObject>> {
  const { type, request } = message;
  const content = objectAt(request[type]);
  if (!fileTypes.has(type) || 'id' in content || 'link' in content)
    return { ok: true, value: request };
  const blob = await readBlob(db, message, message.id);
  if (blob?.bytes == null)
    return { ok: false, reason: 'refused', message: 'the file was deleted', code: null, status: 0 };
  const { bytes, contentType, filename } = blob;
  const uploaded = await client.uploadMedia(message.phoneNumberId, {
    bytes,
    contentType: contentType ?? 'application/octet-stream',
    filename: filename ?? 'file',
  });
  if (!uploaded.ok) return uploaded;
  await db.query(message, noteUpload, { id: message.id, media: uploaded.value });
  return { ok: true, value: { ...request, [type]: { ...content, id: uploaded.value } } };
}

const fileTypes = new Set(['image', 'audio', 'video', 'document']);
