export function TriggerScreen() {
  return null;
}
