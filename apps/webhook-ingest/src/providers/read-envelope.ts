import { type JsonObject, objectAt, textAt } from '@parley/contracts';
import { readJsonObject } from '@parley/webhooks';
import { eventNameAt } from '../webhook-endpoint';

export type Envelope =
  | { ok: true; eventType: string; isHandled: boolean; data: JsonObject }
  | { ok: false; reason: string };

/** Reads a body of the form `{ type, data }`. A handled event must have the id `data.<idName>`. */
export function readEnvelope(body: Buffer, handled: ReadonlySet<string>, idName: string): Envelope {
  const envelope = readJsonObject(body);
  if (envelope === null) return { ok: false, reason: 'the body is not a JSON object' };
  const eventType = eventNameAt(envelope.type);
  if (eventType === undefined) return { ok: false, reason: 'the body has no type' };
  const isHandled = handled.has(eventType);
  const data = objectAt(envelope.data);
  if (isHandled && textAt(data[idName]) === undefined)
    return { ok: false, reason: `the body has no data.${idName}` };
  return { ok: true, eventType, isHandled, data };
}
