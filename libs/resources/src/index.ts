export { contentHash } from './canonical-json';
export { pullResources } from './pull-resources';
export { type PushRequest, type PushResult, pushResources } from './push-resources';
export { resourceState } from './resource-state';
