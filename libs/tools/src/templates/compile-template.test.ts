import type { JsonObject } from '@parley/contracts';
import fc from 'fast-check';
import type { ToolResult } from '../types';
import { type TemplateContext, compileTemplate, resolveArgs } from './compile-template';
import { parseTemplate } from './parse-template';

const compile = (
  template: string,
  variables: JsonObject = {},
  more: Partial<TemplateContext> = {},
) => compileTemplate(template, { variables, ...more });

/** Records calls. By default every function returns its own name and arguments. */
function recorder(answer?: (name: string, args: JsonObject) => ToolResult | Promise<ToolResult>) {
  const calls: { name: string; args: JsonObject }[] = [];
  return {
    calls,
    call: async (name: string, args: JsonObject): Promise<ToolResult> => {
      calls.push({ name, args });
      return answer ? answer(name, args) : { ok: true, result: { name, args } };
    },
  };
}

describe('variables', () => {
  const variables = {
    name: 'Ana',
    count: 3,
    isOpen: false,
    nothing: null,
    user: { tags: ['a', 'b'], address: { city: 'Lima' } },
  };

  it.each([
    ['Hello {{name}}!', 'Hello Ana!'],
    ['{{ name }}{{count}}{{isOpen}}', 'Ana3false'],
    ['[{{nothing}}]', '[]'],
    ['{{user.address.city}} {{user.tags.1}}', 'Lima b'],
    ['{{user.address}}', '{"city":"Lima"}'],
    ['{{user.tags}}', '["a","b"]'],
    ['', ''],
    ['no templates } { {x} }}', 'no templates } { {x} }}'],
    ['{{name', '{{name'],
    ['{{name}} {{', 'Ana {{'],
    ['{{missing | "friend"}}', 'friend'],
    ['{{ nothing|"none \\"given\\"" }}', 'none "given"'],
    ['{{name | "friend"}}', 'Ana'],
    ['{{missing | ""}}', ''],
  ])('%s', async (template, expected) => {
    expect(await compile(template, variables)).toMatchObject({ text: expected, errors: [] });
  });

  it.each([
    ['a {{missing}} b', 'a [TEMPLATE_ERROR: missing not found] b', 'missing'],
    ['{{user.address.zip}}', '[TEMPLATE_ERROR: user.address.zip not found]', 'user.address.zip'],
    ['{{#if x}}', '[TEMPLATE_ERROR: #if x not found]', '#if x'],
    ['{{}}', '[TEMPLATE_ERROR:  not found]', ''],
    ['{{1 + 1}}', '[TEMPLATE_ERROR: 1 + 1 not found]', '1 + 1'],
    ['{{name | friend}}', '[TEMPLATE_ERROR: name | friend not found]', 'name | friend'],
  ])('reports %s', async (template, text, name) => {
    expect(await compile(template, variables)).toMatchObject({
      text,
      errors: [{ name, message: 'not found' }],
    });
  });

  it.each([
    'constructor',
    'constructor.name',
    '__proto__',
    '__proto__.polluted',
    'toString',
    'name.length',
    'user.tags.length',
    'user.tags.map',
    'user.constructor.constructor',
    'user.hasOwnProperty',
    'name.0',
  ])('reads own properties only: %s', async (path) => {
    expect((await compile(`{{${path}}}`, variables)).text).toBe(
      `[TEMPLATE_ERROR: ${path} not found]`,
    );
  });

  it('lists the variables that were used', async () => {
    const { variables: used } = await compile('{{name}} {{count}} {{missing}}', variables);
    expect(used).toEqual({ name: 'Ana', count: 3 });
  });
});

describe('values are text and never templates', () => {
  const hostile = [
    '{{secret}}',
    '{{entity.delete({"id":"1"})}}',
    '}} {{secret}} {{',
    '{{{{secret}}}}',
    '{{secret | "x"}}',
    '") }} {{secret}}',
    '"}) }}{{entity.delete({"id":"1"})}}',
    '\\"}}){{secret}}',
    '{',
    '{{',
    '$&$1$`',
    '[TEMPLATE_ERROR: secret not found]',
    '\u0000{{secret}}',
    '{{__proto__}}',
  ];

  it.each(hostile)('%j in a prompt', async (value) => {
    const { call, calls } = recorder();
    const { text, errors } = await compile(
      '<{{param}}>',
      { param: value, secret: 'S3CRET' },
      { call },
    );
    expect({ text, errors, calls }).toEqual({ text: `<${value}>`, errors: [], calls: [] });
  });

  it.each(hostile)('%j joined with other values', async (value) => {
    const { call, calls } = recorder();
    const context = { a: '{', b: value, secret: 'S3CRET' };
    const { text } = await compile('{{a}}{{a}}{{b}}}}', context, { call });
    expect({ text, calls }).toEqual({ text: `{{${value}}}`, calls: [] });
  });

  it.each(hostile)('%j as an argument and as a result of a function', async (value) => {
    const { call, calls } = recorder((_name, args) => ({ ok: true, result: args.q! }));
    const { text } = await compile(
      '{{lookup({"q": "{{param}}"})}}',
      { param: value, secret: 'S3CRET' },
      { call },
    );
    expect({ text, calls }).toEqual({
      text: value,
      calls: [{ name: 'lookup', args: { q: value } }],
    });
  });

  it.each(hostile)('%j in arguments of a trigger', async (value) => {
    const { call, calls } = recorder();
    const args = { whole: '{{v}}', part: 'a {{v}}', [value]: 1 };
    const resolved = await resolveArgs('t', args, {
      variables: { v: value, secret: 'S3CRET' },
      call,
    });
    expect(resolved).toEqual({
      args: { whole: value, part: `a ${value}`, [value]: 1 },
      errors: [],
    });
    expect(calls).toEqual([]);
  });

  it('holds for any value', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('{', '}', '"', '(', ')', '|', 's', '.', '\\') }),
        async (value) => {
          const { call, calls } = recorder();
          const { text } = await compile('a{{v}}b{{v}}', { v: value, s: 'S3CRET' }, { call });
          expect({ text, calls }).toEqual({ text: `a${value}b${value}`, calls: [] });
        },
      ),
    );
  });
});

describe('functions', () => {
  it('are called with their arguments, and the result is inserted as JSON', async () => {
    const { call, calls } = recorder(() => ({ ok: true, result: [{ id: '1' }] }));
    const template =
      'Open: {{entity.query({"type": "order", "filters": {"data.note": "a) }} {b"}, "limit": 2})}}.';
    expect((await compile(template, {}, { call })).text).toBe('Open: [{"id":"1"}].');
    const filters = { 'data.note': 'a) }} {b' };
    expect(calls).toEqual([{ name: 'entity.query', args: { type: 'order', filters, limit: 2 } }]);
  });

  it('of custom tools may have a template as all of an argument that is called filters', async () => {
    const { call, calls } = recorder();
    await compile('{{crm.find({"filters": "{{f}}"})}}', { f: { stage: 'won' } }, { call });
    expect(calls).toEqual([{ name: 'crm.find', args: { filters: { stage: 'won' } } }]);
  });

  it('accept variables and functions in their arguments, and keep the types of values', async () => {
    const { call, calls } = recorder((name) => ({
      ok: true,
      result: name === 'inner' ? 7 : 'done',
    }));
    const template =
      '{{outer({"n": "{{count}}", "text": "n={{count}}", "deep": ["{{inner()}}"], "list": "{{tags}}"})}}';
    const { text } = await compile(template, { count: 3, tags: ['a'] }, { call });
    expect(text).toBe('done');
    expect(calls).toEqual([
      { name: 'inner', args: {} },
      { name: 'outer', args: { n: 3, text: 'n=3', deep: [7], list: ['a'] } },
    ]);
  });

  it('are not called with a missing argument', async () => {
    const { call, calls } = recorder();
    const { text, errors } = await compile('{{f({"id": "{{missing}}"})}}', {}, { call });
    expect(text).toBe('[TEMPLATE_ERROR: f failed: missing not found]');
    expect({ calls, errors }).toEqual({
      calls: [],
      errors: [{ name: 'f', message: 'failed: missing not found' }],
    });
  });

  it('report why they failed, or are replaced by a fallback', async () => {
    const message = `Permission denied: cannot perform 'list' on 'order'`;
    const { call } = recorder((name) => ({
      ok: false,
      errorType: name === 'missing' ? 'tool_not_found' : 'permission_denied',
      message,
    }));
    const { text } = await compile('{{f()}}|{{missing()}}|{{f() | "none"}}', {}, { call });
    expect(text).toBe(
      `[TEMPLATE_ERROR: f failed: ${message}]|[TEMPLATE_ERROR: missing not found]|none`,
    );
  });

  it.each(['{{f(1)}}', '{{f([1])}}', '{{f("x")}}', "{{f({'a': 1})}}", '{{f({a: 1})}}'])(
    'refuses %s',
    async (template) => {
      const { call, calls } = recorder();
      const { text } = await compile(template, {}, { call });
      expect(text).toBe('[TEMPLATE_ERROR: f has arguments that are not a JSON object]');
      expect(calls).toEqual([]);
    },
  );

  it('run concurrently, equal ones once', async () => {
    let running = 0;
    let most = 0;
    const all = Promise.withResolvers<void>();
    const { call, calls } = recorder(async (_name, args) => {
      most = Math.max(most, ++running);
      if (running === 3) all.resolve();
      await all.promise;
      running -= 1;
      return { ok: true, result: args.n! };
    });
    const { text } = await compile(
      '{{f({"n":1})}}{{f({"n":2})}}{{f({"n":1})}}{{f({"n":3})}}',
      {},
      { call },
    );
    expect({ text, most, calls: calls.length }).toEqual({ text: '1213', most: 3, calls: 3 });
  });

  it('are aborted at the time limit', async () => {
    let seen: AbortSignal | undefined;
    const call = (_name: string, _args: JsonObject, signal: AbortSignal) => {
      seen = signal;
      return new Promise<never>(() => {});
    };
    const { text } = await compile('{{slow()}} {{other() | "x"}}', {}, { call, timeoutMs: 30 });
    expect(text).toBe('[TEMPLATE_ERROR: slow failed: took too long] x');
    expect(seen?.aborted).toBe(true);
  });

  it('insert at most 10 KB into a prompt, cut between characters', async () => {
    const { call } = recorder(() => ({ ok: true, result: 'añ€😀'.repeat(5_000) }));
    const { text } = await compile('{{f()}}', {}, { call });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(10_240);
    expect(Buffer.byteLength(text)).toBeGreaterThan(10_200);
    expect(text.endsWith('… [cut]')).toBe(true);
    expect(text).not.toContain('\ufffd');
    const exact = await compile(
      '{{f()}}',
      {},
      { call: async () => ({ ok: true, result: 'x'.repeat(10_240) }) },
    );
    expect(exact.text).toHaveLength(10_240);
  });

  it('are at most 50 in a template', async () => {
    const { call, calls } = recorder(() => ({ ok: true, result: '.' }));
    const template = Array.from({ length: 60 }, (_, n) => `{{f({"n":${n}})}}`).join('');
    const { errors } = await compile(template, {}, { call });
    expect({ calls: calls.length, errors: errors.length }).toEqual({ calls: 50, errors: 10 });
  });
});

describe('resolveArgs', () => {
  const variables = {
    trigger: {
      data: { total: 12.5, paid: true, items: [1, { a: null }], none: null, name: 'Ana' },
    },
  };
  const resolve = (args: JsonObject) => resolveArgs('t', args, { variables });

  it('keeps types when a value is exactly one template', async () => {
    const args = {
      total: '{{trigger.data.total}}',
      paid: '{{ trigger.data.paid }}',
      items: '{{trigger.data.items}}',
      none: '{{trigger.data.none}}',
      nested: [{ name: '{{trigger.data.name}}' }, 7, null],
    };
    expect(await resolve(args)).toEqual({
      args: {
        total: 12.5,
        paid: true,
        items: [1, { a: null }],
        none: null,
        nested: [{ name: 'Ana' }, 7, null],
      },
      errors: [],
    });
  });

  it('makes text of a template inside other text, even when that text is blank', async () => {
    const { args } = await resolve({
      a: 'Total: {{trigger.data.total}}',
      b: ' {{trigger.data.total}}',
    });
    expect(args).toEqual({ a: 'Total: 12.5', b: ' 12.5' });
  });

  it('reports missing values', async () => {
    expect(
      await resolve({ a: '{{trigger.data.missing}}', b: '{{trigger.data.missing | "x"}}' }),
    ).toEqual({
      args: { a: '[TEMPLATE_ERROR: trigger.data.missing not found]', b: 'x' },
      errors: [{ name: 'trigger.data.missing', message: 'not found' }],
    });
  });

  it('keeps a key named __proto__', async () => {
    const { args } = await resolve(
      JSON.parse('{"__proto__": {"polluted": "{{trigger.data.name}}"}}'),
    );
    expect(JSON.stringify(args)).toBe('{"__proto__":{"polluted":"Ana"}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('the parser', () => {
  const tricky = fc.array(
    fc.oneof(
      fc.constantFrom(
        '{{',
        '}}',
        '{',
        '}',
        '(',
        ')',
        '"',
        '\\',
        '|',
        '.',
        ' ',
        '\n',
        'a',
        'a.b',
        '{{a}}',
        '{{a | "b"}}',
      ),
      fc.constantFrom(
        '{{f()}}',
        '{{f({"a":"{{b}}"})}}',
        '{{f({"a":")}}"})}}',
        "'",
        ':',
        ',',
        '0',
        '-',
        'é',
        '😀',
      ),
      fc.string(),
    ),
    { maxLength: 30 },
  );

  it('loses no character and never throws', () => {
    fc.assert(
      fc.property(tricky, (parts) => {
        const template = parts.join('');
        expect(
          parseTemplate(template)
            .map(({ source }) => source)
            .join(''),
        ).toBe(template);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not change text without braces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        fc.pre(!text.includes('{{'));
        expect(await compile(text)).toEqual({ text, variables: {}, errors: [] });
      }),
    );
  });

  it('parses every expression that it is given', () => {
    const name = fc.stringMatching(/^[A-Za-z_][\w-]{0,8}(\.[\w-]{1,8}){0,3}$/);
    const blank = fc.constantFrom('', ' ', '\n\t');
    const expression = fc.record({
      name,
      args: fc.option(fc.dictionary(fc.string(), fc.jsonValue())),
      fallback: fc.option(fc.string()),
      blank,
    });
    fc.assert(
      fc.property(expression, ({ name, args, fallback, blank }) => {
        const call = args === null ? '' : `(${JSON.stringify(args)})`;
        const written = `{{${blank}${name}${call}${blank}${fallback === null ? '' : `| ${JSON.stringify(fallback)}`}${blank}}}`;
        const [node, ...rest] = parseTemplate(`before ${written} after`).slice(1);
        expect(node).toMatchObject({
          kind: args === null ? 'variable' : 'call',
          name,
          fallback,
          source: written,
        });
        expect(rest).toEqual([{ kind: 'text', source: ' after' }]);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['opened again and again', '{{'.repeat(100_000)],
    ['calls that never close', '{{a({'.repeat(40_000)],
    ['strings that never close', '{{a("'.repeat(40_000)],
    ['calls that never close, with an end', '{{a({'.repeat(40_000) + '}}'],
    ['long names', `{{${'a.'.repeat(100_000)}`],
    ['fallbacks that never close', `{{a | "${'\\"'.repeat(90_000)}`],
    ['deep arguments', `{{a({"x":${'['.repeat(9_000)}${']'.repeat(9_000)}})}}`],
    ['nested in strings', '{{a({"x":"'.repeat(10_000)],
  ])('parses 200 KB of hostile text in time: %s', (_name, template) => {
    const startedMs = performance.now();
    parseTemplate(template);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  });
});

describe('values that are named very often', () => {
  const variables = {
    text: 'x'.repeat(300_000),
    list: Array.from({ length: 30_000 }, (_, n) => ({ n })),
  };

  it.each(['text', 'list'])('are inserted up to a limit into a text: %s', async (name) => {
    const { text, errors } = await compileTemplate(`{{${name}}}`.repeat(1_000), { variables });
    expect(text.length).toBeLessThan(2_300_000);
    expect(errors.length).toBeGreaterThan(900);
    expect(errors[0]).toEqual({ name, message: 'is beyond the 2097152 characters of a template' });
  });

  it('are inserted up to a limit into arguments', async () => {
    const { args, errors } = await resolveArgs(
      't',
      { all: Array<string>(2_000).fill('{{list}}') },
      { variables },
    );
    expect(JSON.stringify(args).length).toBeLessThan(2_300_000);
    expect(errors.length).toBeGreaterThan(1_900);
  });
});
