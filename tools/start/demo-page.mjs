/**
 * The address of a page with the chat of the demo agent, also used by docker/demo.mjs. Creates
 * the page's publishable key if there is none. Null when that is refused, such as when the agent
 * no longer exists.
 * @param {string} gatewayUrl the gateway as this process reaches it
 * @param {string} apiKey a key with the permission manage
 * @param {string} publicUrl the gateway as the browser reaches it
 */
export async function demoPageLink(gatewayUrl, apiKey, publicUrl) {
  const { origin } = new URL(publicUrl);
  const call = async (method, body) => {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' };
    const init = {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    };
    const response = await fetch(
      `${gatewayUrl}/v1/publishable-keys${body ? '' : '?limit=100'}`,
      init,
    );
    return response.ok ? response.json() : {};
  };
  const agentSlug = 'shop-assistant';
  const { data = [] } = await call('GET');
  const isUsable = (one) =>
    one.revokedAt === null && one.agentSlug === agentSlug && one.origins.includes(origin);
  const { key } =
    data.find(isUsable) ??
    (await call('POST', { name: 'demo page', agentSlug, origins: [origin] }));
  return key === undefined ? null : `${origin}/widget/demo?key=${key}`;
}
