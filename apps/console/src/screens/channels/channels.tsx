export function Channels() {
  return null;
}
