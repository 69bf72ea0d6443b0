export {
  type DataDefinition,
  type FieldType,
  type ToolInput,
  defineAgent,
  defineData,
  defineRole,
  defineRouter,
  defineTools,
  defineTrigger,
  kindOf,
} from './define';
export { DefinitionError } from './definition-error';
export { parseDefinition } from './parse-definition';
export { type ToolHandler, type ToolHandlerParley } from './tool-handler';
