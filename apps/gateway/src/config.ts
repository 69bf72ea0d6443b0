import { BlockList, isIP } from 'node:net';
import { numberVariable, serviceVariables, urlVariable } from '@parley/service';
import { z } from 'zod';

const isRange = (text: string): boolean => {
  const [address = '', bits, rest] = text.split('/');
  const maxBits = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) !== 0 && rest === undefined && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= maxBits))
  );
};

export const gatewayVariables = {
  ...serviceVariables(4000),
  CHAT_URL: urlVariable().default('http://127.0.0.1:4002').meta({ description: 'Address of the chat service.' }),
  DATA_URL: urlVariable().default('http://127.0.0.1:4001').meta({ description: 'Address of the data service.' }),
  WEBHOOK_INGEST_URL: urlVariable().optional().meta({
    description: 'Address of the webhook-ingest service. When it is not set, webhooks are answered with 503.',
  }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description: 'Address of the tool-executor service. When it is not set, its paths are answered with 503.',
  }),
  CHAT_DEADLINE_MS: numberVariable(130_000, 1).meta({
    description:
      'Maximum time in milliseconds for a request to the chat service and its answer. Must be longer than the slowest turn.',
  }),
  EXECUTOR_DEADLINE_MS: numberVariable(70_000, 1).meta({
    description: 'Maximum time in milliseconds for a request to the tool-executor service and its answer.',
  }),
  DEADLINE_MS: numberVariable(30_000, 1).meta({
    description: 'Maximum time in milliseconds for a request to another service and its answer.',
  }),
  TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((range) => range.trim())
        .filter(Boolean),
    )
    .refine((ranges) => ranges.every(isRange), 'must be addresses or ranges (10.0.0.0/8), separated by commas')
    .meta({
      description:
        'Addresses or ranges (CIDR) of the proxies whose X-Forwarded-* headers are trusted, separated by commas. Headers of other peers are discarded.',
    }),
};

/** The block list of TRUSTED_PROXIES; null when the variable is empty. */
export function trustedProxyList(ranges: readonly string[]): BlockList | null {
  if (ranges.length === 0) return null;
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
