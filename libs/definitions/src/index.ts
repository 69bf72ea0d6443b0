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
  withoutThrowing,
} from './define';
export { DefinitionError } from './definition-error';
export { type ToolHandler, type ToolHandlerParley } from './tool-handler';
