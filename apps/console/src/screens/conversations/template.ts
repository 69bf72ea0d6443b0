import type { JsonObject } from '@parley/client';

/**
 * A part of a template with values to fill in. `parameters` are its variables, `1` or
 * `name`, in their order.
 */
interface TemplatePart {
  type: 'header' | 'body' | 'button';
  /** Position of a button. */
  index?: number;
  text: string;
  variables: string[];
}

export interface Template {
  name: string;
  language: string;
  parts: TemplatePart[];
  footer: string;
  /** It has a picture, a file or a place of its own at its head. */
  hasMedia: boolean;
}

const variable = /\{\{\s*([\w.]+)\s*\}\}/g;
const variablesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(variable)].map((found) => found[1]!)),
];

interface Component {
  type?: string;
  format?: string;
  text?: string;
  buttons?: { type?: string; text?: string; url?: string }[];
}

/** Reads a template of the channel, as Meta describes it. */
export function readTemplate({ name, language, components }: JsonObject): Template {
  const all = (Array.isArray(components) ? components : []) as Component[];
  const find = (type: string) => all.find((one) => one.type?.toUpperCase() === type);
  const header = find('HEADER');
  const isText = header !== undefined && (header.format ?? 'TEXT').toUpperCase() === 'TEXT';
  const part = (type: TemplatePart['type'], text = '', index?: number): TemplatePart => ({
    type,
    text,
    index,
    variables: variablesIn(text),
  });
  return {
    name: String(name),
    language: String(language),
    hasMedia: header !== undefined && !isText,
    footer: find('FOOTER')?.text ?? '',
    parts: [
      ...(isText ? [part('header', header.text)] : []),
      part('body', find('BODY')?.text),
      ...(find('BUTTONS')?.buttons ?? []).flatMap(({ url }, index) =>
        url !== undefined && variablesIn(url).length > 0 ? [part('button', url, index)] : [],
      ),
    ],
  };
}

/** Names a value in the form: variables of different parts may have the same name. */
export const fieldOf = ({ type, index }: TemplatePart, name: string): string =>
  [type, index, name].join(' ');

const filled = (part: TemplatePart, values: ReadonlyMap<string, string>): string =>
  part.text.replace(variable, (mark, name: string) => values.get(fieldOf(part, name)) || mark);

/** What the contact will read. */
export const previewOf = (
  { parts, footer }: Template,
  values: ReadonlyMap<string, string>,
): string =>
  [...parts.filter(({ type }) => type !== 'button').map((part) => filled(part, values)), footer]
    .filter(Boolean)
    .join('\n\n');

/** The values in Meta's form. */
export const componentsOf = (
  { parts }: Template,
  values: ReadonlyMap<string, string>,
): JsonObject[] =>
  parts
    .filter(({ variables }) => variables.length > 0)
    .map((part) => ({
      type: part.type,
      ...(part.type === 'button' && { sub_type: 'url', index: String(part.index) }),
      parameters: part.variables.map((name) => ({
        type: 'text',
        ...(!/^\d+$/.test(name) && { parameter_name: name }),
        text: values.get(fieldOf(part, name)) ?? '',
      })),
    }));
