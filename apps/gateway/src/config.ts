import { BlockList, isIP } from 'node:net';
import { numberVariable, serviceVariables, urlVariable } from '@parley/service';
import { z } from 'zod';

const isRange = (text: string): boolean => {
  const [address = '', bits, more] = text.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) !== 0 && more === undefined && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most))
  );
};

export const gatewayVariables = {
  ...serviceVariables(4000),
  CHAT_URL: urlVariable().default('http://127.0.0.1:4002').meta({ description: 'Address of the chat service.' }),
  DATA_URL: urlVariable().default('http://127.0.0.1:4001').meta({ description: 'Address of the data service.' }),
  WEBHOOK_INGEST_URL: urlVariable().optional().meta({
    description: 'Address of the webhook-ingest service; without it, webhooks are answered with 503.',
  }),
  TOOL_EXECUTOR_URL: urlVariable().optional().meta({
    description: 'Address of the tool-executor service; without it, its paths are answered with 503.',
  }),
  CHAT_DEADLINE_MS: numberVariable(130_000, 1).meta({
    description: 'Milliseconds for a whole exchange with the chat service; longer than its slowest turn.',
  }),
  EXECUTOR_DEADLINE_MS: numberVariable(70_000, 1).meta({
    description: 'Milliseconds for a whole exchange with the tool-executor service.',
  }),
  DEADLINE_MS: numberVariable(30_000, 1).meta({
    description: 'Milliseconds for a whole exchange with the other services.',
  }),
  TRUSTED_PROXIES: z
    .string()
    .default('')
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    .refine((ranges) => ranges.every(isRange), 'must be addresses or ranges (10.0.0.0/8), separated by commas')
    .meta({ description: 'Addresses or ranges, separated by commas, whose X-Forwarded-* headers are believed.' }),
};

/** The peers that TRUSTED_PROXIES names; null when it names none. */
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
