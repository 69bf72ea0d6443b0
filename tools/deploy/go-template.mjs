import { stringify } from 'yaml';

/** YAML 1.1, as Helm and Kubernetes read it: "yes" is quoted. */
const yaml = (content) => stringify(content, { lineWidth: 0, version: '1.1' });
const indented = (text, indent) => text.trimEnd().replace(/^(?=.)/gm, indent);

/**
 * Writes objects as templates of Helm. A place that depends on the values holds a mark while the
 * object is YAML, and an action of Go's template language afterwards.
 */
export function createTemplate() {
  const actions = [];
  const inScalar = (action) => `__scalar${actions.push(action) - 1}__`;
  const onLine = (write) => `__line${actions.push(write) - 1}__`;

  /** Replaces marks, also those within the content that replaced one. */
  function fill(text) {
    const filled = text
      .replace(/^( *)(.*?)__line(\d+)__(?:: null)?$/gm, (_, indent, key, number) =>
        actions[number](indent, key.trimEnd()),
      )
      .replace(/__scalar(\d+)__/g, (_, number) => actions[number]);
    return filled === text ? text : fill(filled);
  }

  return {
    /** A number, or a part of a string. */
    part: (expression) => inScalar(`{{ ${expression} }}`),
    /** A string. */
    text: (expression) => inScalar(`{{ ${expression} | quote }}`),
    /**
     * The value of a key that is a list or an object, and items of the list that do not
     * depend on the values.
     */
    block: (expression, items = []) =>
      onLine((indent, key) => {
        const inner = `${indent}  `;
        const action = `{{- ${expression.replaceAll('\n', `\n${inner}`)} | nindent ${inner.length} }}`;
        return [
          `${indent}${key}`,
          inner + action,
          ...(items.length > 0 ? [indented(yaml(items), inner)] : []),
        ].join('\n');
      }),
    /**
     * Items of a list, or a key (`{ [mark]: null }`), that exist under a condition:
     * `if …` or `with …`.
     */
    when: (condition, content) =>
      onLine(
        (indent) =>
          `${indent}{{- ${condition} }}\n${indented(yaml(content), indent)}\n${indent}{{- end }}`,
      ),
    /**
     * Objects as a stream of YAML documents. Those that follow each other under the same
     * condition share it.
     */
    write(objects) {
      const parts = objects.map(({ condition, object }, at) => {
        const isFirst = condition && condition !== objects[at - 1]?.condition;
        const isLast = condition && condition !== objects[at + 1]?.condition;
        // Alerts have templates of Prometheus, in the same language.
        const text = yaml(object).replace(/\{\{.*?\}\}/g, (template) => `{{ \`${template}\` }}`);
        return `${isFirst ? `{{- if ${condition} }}\n` : ''}---\n${text}${isLast ? '{{- end }}\n' : ''}`;
      });
      return fill(parts.join(''));
    },
  };
}
