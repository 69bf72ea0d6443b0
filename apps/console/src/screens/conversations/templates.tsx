import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, Choice, Field } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { composerCatalog } from './composer-texts';
import type { NewOutgoing } from './outbox';
import { type Template, componentsOf, fieldOf, previewOf, readTemplate } from './template';

interface TemplatesProps {
  lastMessageId: string | undefined;
  onClose: () => void;
  onSend: (item: NewOutgoing) => void;
}

/** Sends an approved template of a connected number, with its values. */
export function Templates({ lastMessageId, onClose, onSend }: TemplatesProps) {
  const composer = useTexts(composerCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'templates'],
    queryFn: async () => {
      const channels = (await api.listChannels()).data.filter(
        ({ status }) => status === 'connected',
      );
      const lists = await Promise.all(channels.map(({ id }) => api.listChannelTemplates({ id })));
      const all = lists.flatMap((list) => list.data).filter(({ status }) => status === 'APPROVED');
      // Numbers of one account have the same templates.
      return [
        ...new Map(
          all.map(readTemplate).map((one) => [`${one.name} ${one.language}`, one]),
        ).values(),
      ];
    },
    staleTime: 60_000,
  });
  const [at, setAt] = useState(0);
  const template = data?.[at];
  return (
    <Dialog title={composer.chooseTemplate} onClose={onClose}>
      {isPending ? (
        <Skeleton rows={3} />
      ) : error ? (
        <Failure error={error} onRetry={refetch} />
      ) : template === undefined ? (
        <p className="text-n11">{composer.noTemplates}</p>
      ) : (
        <div className="space-y-3">
          <Choice
            className="w-full"
            label={composer.template}
            value={String(at)}
            onChange={({ target }) => setAt(Number(target.value))}
            options={data.map(
              ({ name, language }, index) => [String(index), `${name} (${language})`] as const,
            )}
          />
          <TemplateForm
            key={at}
            template={template}
            lastMessageId={lastMessageId}
            onSend={onSend}
          />
        </div>
      )}
    </Dialog>
  );
}

function TemplateForm({
  template,
  lastMessageId,
  onSend,
}: { template: Template } & Omit<TemplatesProps, 'onClose'>) {
  const composer = useTexts(composerCatalog);
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const preview = previewOf(template, values);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const components = componentsOf(template, values);
    const { name, language } = template;
    onSend({
      kind: 'reply',
      body: {
        template: {
          name,
          language,
          ...(components.length > 0 && { components: components as never }),
        },
        lastMessageId,
      },
      shown: preview || name,
    });
  };
  return (
    <form onSubmit={submit} className="space-y-3">
      <p dir="auto" aria-live="polite" className="rounded bg-n3 p-2 whitespace-pre-wrap">
        {preview || template.name}
      </p>
      {template.hasMedia && <Notice>{composer.templateOnly}</Notice>}
      {template.parts.flatMap((part) =>
        part.variables.map((name, index) => {
          const field = fieldOf(part, name);
          return (
            <Field
              key={field}
              label={/^\d+$/.test(name) ? composer.templateValue(index + 1) : name}
              hint={part.type === 'button' ? part.text : undefined}
              required
              maxLength={1_000}
              value={values.get(field) ?? ''}
              onChange={({ target }) => setValues(new Map([...values, [field, target.value]]))}
            />
          );
        }),
      )}
      <Button type="submit" look="primary" disabled={template.hasMedia}>
        {composer.sendTemplate}
      </Button>
    </form>
  );
}
