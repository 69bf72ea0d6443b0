export { type Origin, insertEventSql, maxHops, recordEvent, recordEventOnce } from './record-event';
export { type FollowedEvent, type StoredEvent, followEvents, readEvents } from './read-events';
export { heldEvents } from './held-events';
export { eventsPurge, removeOldEvents } from './retention';
export { type WaitingEvent, readPayloads, takeWaitingEvents } from './waiting-events';
