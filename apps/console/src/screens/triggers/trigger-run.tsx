export function TriggerRun() {
  return null;
}
