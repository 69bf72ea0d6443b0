export { type HttpOutcome, callHttp } from './call-http';
export { type GuardedFetch, createGuardedFetch } from './guarded-fetch/create-guarded-fetch';
export { readRetryAfter } from './retry-after';
export { untilAborted } from './until-aborted';
