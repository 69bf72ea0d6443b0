import type { Actor, Scope } from '@parley/contracts';
import type { ToolContext, Tools } from '../types';
import type { TemplateContext } from './compile-template';

/** Creates the `call` of a template's context. Unlike models, templates may also call `templateOnly` tools. */
export function templateCaller(
  tools: Tools,
  scope: Scope,
  as: { actor: Actor; allowed: readonly string[] | null; context: ToolContext },
): NonNullable<TemplateContext['call']> {
  return (name, args, signal) =>
    tools.run(scope, {
      name,
      args,
      actor: as.actor,
      allowed: as.allowed,
      context: { ...as.context, via: 'template', signal },
    });
}
