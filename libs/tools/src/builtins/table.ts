import { agentTools } from './agent';
import type { BuiltIn } from './built-in';
import { emailTools } from './email';
import { entityTools } from './entity';
import { eventTools } from './event';
import { paymentTools } from './payment';
import { routerTools } from './router';
import { webTools } from './web';
import { whatsappTools } from './whatsapp';

/** Every tool that the product brings along: one line a namespace. */
const builtIns: readonly BuiltIn[] = [
  ...entityTools,
  ...eventTools,
  ...agentTools,
  ...paymentTools,
  ...routerTools,
  ...webTools,
  ...whatsappTools,
  ...emailTools,
];

export const builtInsByName: ReadonlyMap<string, BuiltIn> = new Map(builtIns.map((tool) => [tool.name, tool]));

/** What definitions may name besides custom tools. */
export const builtInToolNames: readonly string[] = [...builtInsByName.keys()];
