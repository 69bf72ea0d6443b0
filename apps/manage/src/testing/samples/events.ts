import { recordEvent } from '@parley/events';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

export const event = ({ db, scope }: World, type = 'order.reviewed'): Promise<string> =>
  recordEvent(db, scope, { type, payload: { note: 'ñ' }, actor: { type: 'system' } });

export const eventSamples = {
  async listEvents(world) {
    await event(world);
    return { query: { type: 'order.*', since: '1' } };
  },
  async followEvents(world) {
    await event(world);
    return { query: { after: '0.0' } };
  },
  async streamEvents(world) {
    await event(world);
    return { query: { after: '0.0' } };
  },
} satisfies Record<string, Prepare>;
