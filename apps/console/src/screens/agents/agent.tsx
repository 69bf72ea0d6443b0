export function Agent() {
  return null;
}
