import type { JsonObject } from '@parley/contracts';
import { readInbound, readStatus } from './read-inbound';

const inbound = (message: JsonObject, conversation: JsonObject = {}) =>
  readInbound({
    message: { id: 'wamid.1', timestamp: '1700000000', from: '+1 415-555-0134', ...message },
    conversation,
  });

describe('an inbound message', () => {
  test.each<[string, JsonObject, string | null, 'agent' | 'media' | 'store']>([
    ['text', { type: 'text', text: { body: 'Hola' } }, 'Hola', 'agent'],
    ['text as a bare member', { type: 'text', text: 'Hola' }, 'Hola', 'agent'],
    ["text in Kapso's field only", { type: 'text', kapso: { content: 'Hola' } }, 'Hola', 'agent'],
    [
      'a voice note with a transcript',
      { type: 'audio', kapso: { transcript: { text: 'Hola' } } },
      'Hola',
      'agent',
    ],
    ['a voice note without a transcript', { type: 'audio', audio: { id: '1' } }, null, 'media'],
    ['a button', { type: 'button', button: { text: 'Yes', payload: 'y' } }, 'Yes', 'agent'],
    [
      'a button reply',
      { type: 'interactive', interactive: { button_reply: { id: '1', title: 'Yes' } } },
      'Yes',
      'agent',
    ],
    [
      'a list reply',
      { type: 'interactive', interactive: { list_reply: { id: '1', title: 'Blue' } } },
      'Blue',
      'agent',
    ],
    [
      'a form',
      { type: 'interactive', interactive: { nfm_reply: { response_json: '{"a":1}' } } },
      '{"a":1}',
      'agent',
    ],
    [
      'an image with a caption',
      { type: 'image', image: { caption: 'This one?' } },
      'This one?',
      'agent',
    ],
    ['an image', { type: 'image', image: { id: '1' } }, null, 'media'],
    [
      'a video with a caption',
      { type: 'video', video: { caption: 'Like this' } },
      'Like this',
      'agent',
    ],
    [
      'a video',
      { type: 'video', video: { id: '1' }, kapso: { content: 'Video attached' } },
      null,
      'media',
    ],
    ['a document', { type: 'document', document: { filename: 'order.pdf' } }, null, 'media'],
    [
      "a document with a caption in Kapso's field only",
      { type: 'document', document: {}, kapso: { message_type_data: { caption: 'My receipt' } } },
      'My receipt',
      'agent',
    ],
    [
      'a voice note of its own type',
      { type: 'voice', kapso: { transcript: 'Hola' } },
      'Hola',
      'agent',
    ],
    [
      'a template',
      { type: 'template', template: { name: 'x' }, kapso: { content: 'Reminder' } },
      'Reminder',
      'agent',
    ],
    [
      'contacts',
      { type: 'contacts', contacts: [{}], kapso: { content: 'A contact' } },
      null,
      'store',
    ],
    ['an order', { type: 'order', order: {}, kapso: { content: 'Order' } }, null, 'store'],
    ['a notice of the system', { type: 'system', system: { body: 'New number' } }, null, 'store'],
    [
      'a message that WhatsApp does not pass on',
      { type: 'unsupported', kapso: { content: 'x' } },
      null,
      'store',
    ],
    ['a sticker', { type: 'sticker', kapso: { content: 'Sticker' } }, null, 'media'],
    [
      'a reaction',
      { type: 'reaction', reaction: { emoji: '👍' }, kapso: { content: '👍' } },
      null,
      'store',
    ],
    [
      'a place',
      { type: 'location', location: { latitude: 1 }, kapso: { content: 'Here' } },
      null,
      'store',
    ],
    [
      'an unknown type with text',
      { type: 'hologram', kapso: { content: 'Hola' } },
      'Hola',
      'agent',
    ],
    ['an unknown type', { type: 'hologram' }, null, 'store'],
    [
      'imported history',
      { type: 'text', text: { body: 'Hola' }, kapso: { origin: 'history_sync' } },
      'Hola',
      'store',
    ],
  ])('%s', (_name, message, text, handling) => {
    expect(inbound(message)).toMatchObject({
      messageId: 'wamid.1',
      sentAtMs: 1_700_000_000_000,
      text,
      handling,
    });
  });

  test('without an id, or sent by the business itself, is not read', () => {
    expect(inbound({ id: null, type: 'text' })).toBeNull();
    expect(inbound({ type: 'text', kapso: { direction: 'outbound' } })).toBeNull();
    expect(readInbound({})).toBeNull();
  });

  test('has the number of the conversation, else its own, else a scoped id', () => {
    expect(inbound({}, { phone_number: '56911112222' })?.identity).toEqual({
      phone: '56911112222',
      scopedId: null,
    });
    expect(inbound({})?.identity).toEqual({ phone: '14155550134', scopedId: null });
    expect(inbound({ from: null }, { business_scoped_user_id: 'CL.abc123' })?.identity).toEqual({
      phone: null,
      scopedId: 'CL.abc123',
    });
    expect(
      inbound({ from: 'no digits' }, { business_scoped_user_id: 'not one' })?.identity,
    ).toEqual({
      phone: null,
      scopedId: null,
    });
  });

  test.each([1_700_000_000, '1700000000'])('may have the time %p', (timestamp) => {
    expect(inbound({ timestamp })?.sentAtMs).toBe(1_700_000_000_000);
  });

  test.each([null, 'soon', -1, 1e300])(
    'with the invalid time %p gets the current time',
    (timestamp) => {
      const before = Date.now();
      const sentAtMs = inbound({ timestamp })!.sentAtMs;
      expect(sentAtMs).toBeGreaterThanOrEqual(before);
      expect(sentAtMs).toBeLessThanOrEqual(Date.now());
    },
  );
});

describe('a status of an outbound message', () => {
  test('is the direction of the message, else the direction of the event type', () => {
    const message = { id: 'wamid.1', to: '56911112222' };
    expect(
      readStatus({ message: { ...message, kapso: { status: 'read' } } }, 'x.sent'),
    ).toMatchObject({
      messageId: 'wamid.1',
      status: 'read',
      error: null,
      to: '56911112222',
    });
    expect(readStatus({ message }, 'whatsapp.message.delivered')?.status).toBe('delivered');
    expect(readStatus({ message }, 'whatsapp.message.pondered')).toBeNull();
    expect(readStatus({ message: {} }, 'whatsapp.message.sent')).toBeNull();
  });

  test('of a failure has its reason and the reference of the message', () => {
    const errors = [
      {
        code: 131047,
        title: 'Re-engagement message',
        error_data: { details: 'More than 24 hours' },
      },
    ];
    const statuses = [{ status: 'failed', errors, biz_opaque_callback_data: 'ref-1' }];
    expect(
      readStatus({ message: { id: 'w', kapso: { status: 'failed', statuses } } }, 'x'),
    ).toMatchObject({
      error: '131047: Re-engagement message: More than 24 hours',
      reference: 'ref-1',
    });
    expect(readStatus({ message: { id: 'w', kapso: { status: 'failed' } } }, 'x')?.error).toBe(
      'the provider gave no reason',
    );
  });
});
