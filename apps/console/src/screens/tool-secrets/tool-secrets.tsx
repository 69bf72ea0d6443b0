export function ToolSecrets() {
  return null;
}
