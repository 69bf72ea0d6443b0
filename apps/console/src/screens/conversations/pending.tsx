import { Clock } from 'lucide-react';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { looks } from './bubbles';
import { composerCatalog } from './composer-texts';
import type { Outgoing } from './outbox';

interface PendingProps {
  item: Outgoing;
  /** The others wait for the first one. */
  isFirst: boolean;
  onAgain: () => void;
  onEdit: () => void;
  onDiscard: () => void;
}

/**
 * A message that is not stored yet: it stays in its place until it is, or until it is discarded.
 */
export function Pending({ item, isFirst, onAgain, onEdit, onDiscard }: PendingProps) {
  const composer = useTexts(composerCatalog);
  return (
    <div
      className={`w-fit max-w-[85%] rounded px-3 py-2 ${item.kind === 'note' ? looks.note : looks.person} ${item.error === null ? 'opacity-70' : ''}`}
    >
      <p dir="auto" className="text-base whitespace-pre-wrap [@media(pointer:coarse)]:text-lg">
        {item.shown}
      </p>
      {item.error === null ? (
        <p className="mt-0.5 flex items-center justify-end gap-1 text-xs text-n11">
          <Clock aria-hidden size={14} />
          {item.isDelayed
            ? composer.waitsForConnection
            : isFirst
              ? composer.sending
              : composer.queued}
        </p>
      ) : (
        <div role="alert" className="mt-1">
          <p className="text-xs text-failed">
            {item.isChanged ? composer.changed : composer.notSent(item.error)}
          </p>
          <p className="mt-1 flex flex-wrap gap-1">
            <Button onClick={onAgain}>{composer.tryAgain}</Button>
            {item.body.template === undefined && item.body.file === undefined && (
              <Button look="quiet" onClick={onEdit}>
                {composer.edit}
              </Button>
            )}
            <Button look="quiet" onClick={onDiscard}>
              {composer.discard}
            </Button>
          </p>
        </div>
      )}
    </div>
  );
}
