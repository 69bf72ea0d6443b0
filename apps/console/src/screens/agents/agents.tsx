export function Agents() {
  return null;
}
