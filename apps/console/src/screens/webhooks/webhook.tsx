export function WebhookDelivery() {
  return null;
}
