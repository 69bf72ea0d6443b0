export function Integrations() {
  return null;
}
