export function Emails() {
  return null;
}
