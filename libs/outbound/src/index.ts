export { type AddressGuard, type HttpFile, type HttpOutcome, callHttp } from './call-http';
export { type GuardedFetch, createGuardedFetch } from './guarded-fetch/create-guarded-fetch';
export { readRetryAfter } from './retry-after';
export { rejectOnAbort } from './reject-on-abort';
export { type Slots, createSlots } from './slots';
