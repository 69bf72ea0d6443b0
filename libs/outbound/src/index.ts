export { type GuardedFetch, createGuardedFetch } from './guarded-fetch/create-guarded-fetch';
