export { type Runtime, createRuntime } from './create-runtime';
export { runtimeVariables } from './runtime-variables';
