export function Payment() {
  return null;
}
