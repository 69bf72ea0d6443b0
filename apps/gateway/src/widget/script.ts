/**
 * The script of `<parley-chat>`. Builds replace this module with the bundle of libs/widget
 * (tools/build.mjs).
 */
export const widgetScript: string = '// Only builds contain the script.';
