export { type CheckHandler } from './check-handlers';
export { pullResources } from './pull-resources';
export { type PushRequest, pushResources } from './push-resources';
export { resourceState } from './resource-state';
export { definitionsPurge } from './write-resources';
