export function Routers() {
  return null;
}
