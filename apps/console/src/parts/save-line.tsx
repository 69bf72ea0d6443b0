import { useTexts } from '../i18n';
import { Button } from './controls';
import { Problem } from './states';

interface SaveLineProps {
  action: string;
  run: { isPending: boolean; isSuccess: boolean; error: unknown };
  look?: 'primary' | 'plain';
  /** What is said when it was saved. */
  done?: string;
}

/** The end of a form that stays: why it was refused, the button, and that it was saved. */
export function SaveLine({ action, run, look = 'primary', done }: SaveLineProps) {
  const { states } = useTexts();
  return (
    <>
      <Problem error={run.error} />
      <div className="flex flex-wrap items-center gap-3">
        <Button type="submit" look={look} isBusy={run.isPending}>
          {action}
        </Button>
        <p role="status" className="text-done">
          {run.isSuccess && (done ?? states.saved)}
        </p>
      </div>
    </>
  );
}
