import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useRef } from 'react';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { dataCatalog } from './texts';

/**
 * Asks before unsaved texts are left, inside the console and by the browser. `allow` lets the next
 * navigation pass.
 */
export function useLeaveGuard(isDirty: boolean): { allow: () => void; dialog: ReactNode } {
  const texts = useTexts(dataCatalog);
  const isAllowed = useRef(false);
  if (!isDirty) isAllowed.current = false;
  const blocker = useBlocker({
    // A change of the address that keeps the entity, such as a sort, loses nothing.
    shouldBlockFn: ({ current, next }) =>
      isDirty &&
      !isAllowed.current &&
      (current.pathname !== next.pathname || isOther(current.search, next.search)),
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  const dialog =
    blocker.status === 'blocked' ? (
      <Dialog title={texts.unsavedTitle} onClose={blocker.reset}>
        <p className="mb-4">{texts.unsaved}</p>
        <div className="flex justify-end gap-2">
          <Button onClick={blocker.reset}>{texts.keepEditing}</Button>
          <Button look="danger" onClick={blocker.proceed}>
            {texts.discard}
          </Button>
        </div>
      </Dialog>
    ) : null;
  return { allow: () => void (isAllowed.current = true), dialog };
}

/** The form is shown only with the tab of the fields. */
const isOther = (current: object, next: object): boolean => {
  const of = (search: object) =>
    [(search as { entity?: string }).entity, (search as { tab?: string }).tab].join();
  return of(current) !== of(next);
};
