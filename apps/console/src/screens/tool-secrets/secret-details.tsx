import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatExact, useTexts } from '../../i18n';
import { ChangesLink } from '../../parts/changes-link';
import { Confirm } from '../../parts/confirm';
import { Button } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { SetSecret } from './set-secret';
import { SecretStatus, type ToolSecret } from './tool-secrets';
import { toolSecretsCatalog } from './texts';

export function SecretDetails({ secret, onClose }: { secret: ToolSecret; onClose: () => void }) {
  const texts = useTexts(toolSecretsCatalog);
  const { api } = useWorkspace();
  const place = usePlace();
  const [asked, ask] = useState<'set' | 'remove' | null>(null);
  const { name, setAt, tools } = secret;
  const remove = useChange(async () => {
    await api.deleteToolSecret({ name });
    onClose();
  }, 'tool-secrets');
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [texts.status, <SecretStatus of={secret} />],
          [texts.setAt, setAt !== null && formatExact(setAt)],
          [
            texts.tools,
            tools.length === 0
              ? texts.unused
              : tools.map((tool) => (
                  <div key={tool}>
                    <Link
                      to="/$organization/$environment/tools"
                      params={place}
                      search={{ open: tool }}
                      className="font-mono text-xs text-accent underline"
                    >
                      {tool}
                    </Link>
                  </div>
                )),
          ],
        ]}
      />
      {setAt === null && <p className="text-n11">{texts.missingHint}</p>}
      <div className="flex flex-wrap items-center gap-2">
        <ChangesLink target={name} />
        <span className="ml-auto flex flex-wrap gap-2">
          <Button onClick={() => ask('set')}>{texts.set}</Button>
          {setAt !== null && (
            <Button look="danger" onClick={() => ask('remove')}>
              {texts.remove}
            </Button>
          )}
        </span>
      </div>
      {asked === 'set' && <SetSecret name={name} onClose={() => ask(null)} />}
      {asked === 'remove' && (
        <Confirm
          title={texts.remove}
          question={texts.removeQuestion(name, tools.length)}
          action={texts.remove}
          name={name}
          run={remove}
          onClose={() => ask(null)}
        />
      )}
    </div>
  );
}
