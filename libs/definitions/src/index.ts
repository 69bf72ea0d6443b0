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
  handlerSourceOf,
  kindOf,
  withoutThrowing,
} from './define';
export { DefinitionError } from './definition-error';
export { type ToolEntity, type ToolHandlerContext, type ToolHandlerParley } from './handler-types';
export { type ToolHandler } from './tool-handler';
