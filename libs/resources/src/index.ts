export { type CheckHandler } from './check-handlers';
export { singular } from './definition';
export { storedProblems } from './check-stored';
export { pullResources, writePull } from './pull-resources';
export { type PushRequest, pushResources } from './push-resources';
export { resourceState } from './resource-state';
export { definitionsPurge } from './write-resources';
