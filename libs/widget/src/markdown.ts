import { element } from './dom';
import { type MarkdownNode, parseMarkdown } from './parse-markdown';

/** Renders the Markdown of an agent as nodes. */
export const renderMarkdown = (text: string): (Node | string)[] => parseMarkdown(text).map(render);

const render = (part: MarkdownNode): Node | string =>
  typeof part === 'string'
    ? part
    : element(part.tag, part.attributes, ...part.children.map(render));
