import type { Plugin } from 'esbuild';
import { readTextFile } from '../read-text-file';

/**
 * Imports Markdown and text files as strings, for prompts. Their lines end with LF, so that a
 * checkout with the line endings of Windows has the same prompts. Sources in another encoding than
 * UTF-8 are refused, because esbuild would report their first character.
 */
export const textFiles: Plugin = {
  name: 'text-files',
  setup({ onLoad }) {
    onLoad({ filter: /\.(md|txt)$/ }, ({ path }) => {
      const file = readTextFile(path);
      if (!file.ok) return { errors: [{ text: `${path} ${file.problem}` }] };
      return { contents: file.text.replaceAll('\r\n', '\n'), loader: 'text' };
    });
    onLoad({ filter: /\.([cm]?[jt]sx?|json)$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const file = readTextFile(path);
      return file.ok ? undefined : { errors: [{ text: `${path} ${file.problem}` }] };
    });
  },
};
