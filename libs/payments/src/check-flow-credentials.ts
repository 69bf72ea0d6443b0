import { describeFailure } from './create-payment';
import { type FlowAccess, type FlowClientOptions, createFlowClient } from './flow/flow-client';

/** Messages of Flow that mean that the keys are wrong. */
const wrongKeys =
  /apikey|api key|signature|firma|not authorized|unauthorized|no autorizado|commerce not found|invalid key/i;

/**
 * Checks whether Flow accepts credentials, without creating anything: requests the status of an
 * order that does not exist. With valid keys Flow answers that the order is unknown.
 */
export async function checkFlowCredentials(
  account: FlowAccess,
  options?: FlowClientOptions,
): Promise<{ ok: true; message: string } | { ok: false; message: string }> {
  const answer = await createFlowClient(account, options).getStatusByCommerceId(
    'parley-connection-test',
  );
  if (answer.ok) return { ok: true, message: 'Flow accepts the keys' };
  if (answer.reason !== 'refused') return { ok: false, message: answer.message };
  if (wrongKeys.test(answer.message)) return { ok: false, message: describeFailure(answer) };
  return answer.code === null
    ? { ok: false, message: `apiUrl does not lead to Flow: ${answer.message}` }
    : { ok: true, message: `Flow accepts the keys (its answer: ${answer.message})` };
}
