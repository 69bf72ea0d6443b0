import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, useTexts } from '../../i18n';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { Button } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { SecretStatus, type ToolSecret } from './secret-status';
import { SetSecret } from './set-secret';
import { toolSecretsCatalog } from './texts';
import { TextLink } from '../../parts/link';

export function SecretDetails({ secret, onClose }: { secret: ToolSecret; onClose: () => void }) {
  const texts = useTexts(toolSecretsCatalog);
  const { api } = useWorkspace();
  const [isSetting, set] = useState(false);
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
                    <TextLink to="tools" search={{ open: tool }} className="font-mono text-xs">
                      {tool}
                    </TextLink>
                  </div>
                )),
          ],
        ]}
      />
      {setAt === null && <p className="text-n11">{texts.missingHint}</p>}
      <div className="flex flex-wrap items-center gap-2">
        <ChangesLink target={name} />
        <span className="ml-auto flex flex-wrap gap-2">
          <Button onClick={() => set(true)}>{texts.set}</Button>
          {setAt !== null && (
            <ConfirmButton
              action={texts.remove}
              question={texts.removeQuestion(name, tools.length)}
              name={name}
              change={remove}
            />
          )}
        </span>
      </div>
      {isSetting && <SetSecret name={name} onClose={() => set(false)} />}
    </div>
  );
}
