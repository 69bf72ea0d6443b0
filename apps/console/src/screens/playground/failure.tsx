import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, linkLook } from '../../parts/controls';
import { Link } from '../../parts/link';
import { Notice } from '../../parts/states';
import { playgroundCatalog } from './texts';

type Hint = keyof (typeof playgroundCatalog)['en']['hints'];

/**
 * What to do about an error of an execution: `<model>: <reason>: <detail>`, or a sentence
 * (libs/agents describes it so).
 */
function hintOf(error: string): Hint {
  const reason = /^\S+: (\w+): /.exec(error)?.[1];
  if (reason === 'not_configured' || reason === 'unknown_model') return 'not_configured';
  if (reason === 'timeout' || reason === 'context_overflow') return reason;
  if (/HTTP 40[13]\b/.test(error)) return 'refused';
  if (/HTTP (402|429)\b/.test(error)) return 'limited';
  if (error === 'the turn took too long') return 'too_long';
  if (error === 'interrupted') return 'interrupted';
  return error === 'agent_not_found' || error === 'no_active_config' ? 'missing' : 'other';
}

/** A turn that failed: the error, what to do about it, and the message once more. */
export function FailedTurn({ error, onAgain }: { error: string; onAgain: () => void }) {
  const texts = useTexts(playgroundCatalog);
  const { isAdmin } = useWorkspace();
  const hint = hintOf(error);
  return (
    <div role="alert" className="space-y-1.5">
      <Notice kind="failed">{error}</Notice>
      <p className="px-1 text-n11">{texts.hints[hint]}</p>
      <p className="flex flex-wrap gap-2">
        <Button onClick={onAgain}>{texts.sendAgain}</Button>
        {isAdmin && (hint === 'not_configured' || hint === 'refused') && (
          <Link to="integrations" className={linkLook}>
            {texts.toIntegrations}
          </Link>
        )}
      </p>
    </div>
  );
}
