export { pullResources } from './pull-resources';
export { type PushRequest, pushResources } from './push-resources';
export { resourceState } from './resource-state';
