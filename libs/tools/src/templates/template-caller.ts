import type { Scope } from '@parley/contracts';
import type { ToolCall, Tools } from '../types';
import type { TemplateContext } from './compile-template';

/**
 * Creates the `call` of a template's context. Unlike models, templates may also call
 * `templateOnly` tools.
 */
export function templateCaller(
  tools: Tools,
  scope: Scope,
  as: Pick<ToolCall, 'actor' | 'allowed' | 'context' | 'onStart'>,
): NonNullable<TemplateContext['call']> {
  return (name, args, signal) =>
    tools.run(scope, {
      name,
      args,
      actor: as.actor,
      allowed: as.allowed,
      onStart: as.onStart,
      context: { ...as.context, via: 'template', signal },
    });
}
