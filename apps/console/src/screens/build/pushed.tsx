import { useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { buildCatalog } from './texts';

/** Where these definitions come from: nothing on these screens changes them. */
export function PushedAsCode() {
  const texts = useTexts(buildCatalog);
  return (
    <p className="flex shrink-0 flex-wrap items-center gap-x-2 border-b border-n5 px-4 py-1.5 text-n11">
      {texts.asCode}
      <CopyText text="npx parley push" />
    </p>
  );
}
