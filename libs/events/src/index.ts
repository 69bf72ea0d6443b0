export { type Origin, insertEventSql, recordEvent, recordEventOnce } from './record-event';
export { type StoredEvent, followEvents, readEvents } from './read-events';
export { eventsPurge, removeOldEvents } from './retention';
export { type WaitingEvent, markRelayed, readPayloads, readWaitingEvents } from './waiting-events';
