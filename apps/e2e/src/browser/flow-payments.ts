import type { FlowServer, FlowServerOrder } from '@parley/testing';
import { startFlowServer } from '@parley/testing';
import { type ConsoleKit, useConsole } from './console-kit';

const flowKeys = { apiKey: 'KEY-1', secretKey: 'secret-1' };

/** A console whose organization takes payments at a stand-in for Flow. */
export function useConsoleWithFlow() {
  let flow: FlowServer;
  const app = useConsole();
  beforeAll(async () => {
    flow = await startFlowServer(flowKeys);
    await app.owner.post('/v1/integrations', {
      provider: 'flow',
      settings: { apiUrl: flow.url, ...flowKeys },
    });
  });
  afterAll(() => flow?.stop());
  return { app, flow: () => flow };
}

/** Asks the tool for a payment. `order` is what Flow has of it. */
export async function createPayment(
  { owner }: ConsoleKit,
  flow: FlowServer,
  args: { amount: number; description: string; entityId?: string },
): Promise<{ id: string; link: string; order: FlowServerOrder }> {
  const { body } = await owner.post('/v1/run-tool', {
    toolName: 'payment.create',
    args: { currency: 'CLP', customerEmail: 'ana@example.com', ...args },
  });
  const { paymentId, paymentLinkUrl } = body.result as {
    paymentId: string;
    paymentLinkUrl: string;
  };
  return { id: paymentId, link: paymentLinkUrl, order: flow.orderOf(paymentLinkUrl) };
}

/** The status of a payment over the API. */
export const statusOfPayment = async ({ owner }: ConsoleKit, id: string): Promise<unknown> =>
  ((await owner.get(`/v1/payments/${id}`)).body as { payment: { data: { status: unknown } } })
    .payment.data.status;
