import { z } from 'zod';

/** The status of an order (docs/reference/providers.md#flow-status). */
export interface FlowStatus {
  /** 1 pending, 2 paid, 3 rejected, 4 cancelled. */
  code: 1 | 2 | 3 | 4;
  /** The status as text, which Flow's answer does not contain. */
  message: string;
  flowOrder: string;
  commerceOrder: string;
  amount: number;
  currency: string;
}

const messages = { 1: 'pendiente', 2: 'pagada', 3: 'rechazada', 4: 'anulada' } as const;

const schema = z
  .object({
    status: z.coerce.number().pipe(z.literal([1, 2, 3, 4])),
    flowOrder: z.union([z.number(), z.string().min(1)]).transform(String),
    commerceOrder: z.union([z.string(), z.number()]).transform(String),
    amount: z.union([z.number(), z.string().min(1)]).pipe(z.coerce.number()),
    currency: z.string().min(1),
  })
  .transform(({ status: code, currency, ...rest }): FlowStatus => {
    return { ...rest, code, message: messages[code], currency: currency.toUpperCase() };
  });

/** Parses an answer of `payment/getStatus…`; null when it is malformed. */
export function parseFlowStatus(body: unknown): FlowStatus | null {
  return schema.safeParse(body).data ?? null;
}
