export function Email() {
  return null;
}
