export function Triggers() {
  return null;
}
