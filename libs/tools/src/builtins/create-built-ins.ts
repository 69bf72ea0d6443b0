import type { Tool, ToolDeps, ToolSource } from '../tool';
import { agentTools } from './agent';
import type { BuiltIn } from './built-in';
import { emailTools } from './email';
import { entityTools } from './entity';
import { eventTools } from './event';
import { paymentTools } from './payment';
import { routerTools } from './router';
import { threadTools } from './thread';
import { webTools } from './web';
import { whatsappTools } from './whatsapp';

const builtIns: readonly BuiltIn[] = [
  ...entityTools,
  ...eventTools,
  ...agentTools,
  ...paymentTools,
  ...routerTools,
  ...threadTools,
  ...webTools,
  ...whatsappTools,
  ...emailTools,
];

/** All built-in tools, also those that are not configured here. */
export const builtInTools: readonly Tool[] = builtIns;

/**
 * Names of all built-in tools, which definitions may refer to even if they are not configured here.
 */
export const builtInToolNames: readonly string[] = builtIns.map(({ name }) => name);

/** Creates the source of the built-in tools whose dependencies are configured. */
export function createBuiltIns(deps: ToolDeps): ToolSource {
  const available = new Map(
    builtIns.filter((tool) => tool.isAvailable?.(deps) ?? true).map((tool) => [tool.name, tool]),
  );
  return {
    owns: (name) => available.has(name),
    find: async (_scope, name) => available.get(name) ?? null,
    list: async () => [...available.values()],
  };
}
