import { SlidersHorizontal, Square } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useState } from 'react';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { playgroundCatalog } from './texts';

const hasKeyboard = () => !matchMedia('(pointer: coarse)').matches;

interface ComposerProps {
  name: string;
  text: string;
  onText: (text: string) => void;
  writer: RefObject<HTMLTextAreaElement | null>;
  onSend: () => void;
  /** Why nothing can be sent. */
  problem: string | null;
  /** While an answer runs, it can be stopped and nothing else can be sent. */
  running: { onStop: () => void; isStopping: boolean } | null;
  isSending: boolean;
  /** What is set besides the message, in short. */
  summary: string;
  options: ReactNode;
}

/** Writes a message. Enter sends it where there is a keyboard. */
export function Composer(props: ComposerProps) {
  const { name, text, onText, writer, onSend, problem, running, isSending, summary, options } =
    props;
  const texts = useTexts(playgroundCatalog);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (hasKeyboard()) writer.current?.focus();
  }, [writer]);
  const isReady = text.trim() !== '' && problem === null && running === null && !isSending;
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Enter ends the input of a character, too.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    if (!hasKeyboard() && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (isReady) onSend();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onSend();
      }}
      className="shrink-0 border-t border-n5 p-3"
    >
      <div className="mx-auto max-w-3xl space-y-2">
        {isOpen && options}
        <textarea
          ref={writer}
          aria-label={texts.message}
          placeholder={texts.placeholder(name)}
          value={text}
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          onChange={({ target }) => onText(target.value)}
          onKeyDown={onKeyDown}
          className="w-full resize-none rounded border border-n8 bg-n1 p-2 text-base [@media(pointer:coarse)]:text-lg"
        />
        <div className="flex flex-wrap items-center gap-2">
          <Button
            look="quiet"
            icon={SlidersHorizontal}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {texts.options}
          </Button>
          {problem === null ? (
            summary && <span className="min-w-0 truncate text-xs text-n11">{summary}</span>
          ) : (
            <button
              type="button"
              className="tap text-xs text-waiting underline"
              onClick={() => setOpen(true)}
            >
              {problem}
            </button>
          )}
          <span className="ml-auto text-xs text-n10 max-lg:hidden">{texts.keys}</span>
          {running === null ? (
            <Button
              type="submit"
              look="primary"
              isBusy={isSending}
              disabled={!isReady && !isSending}
              className="max-lg:ml-auto"
            >
              {texts.send}
            </Button>
          ) : (
            <Button
              icon={Square}
              isBusy={running.isStopping}
              onClick={running.onStop}
              className="max-lg:ml-auto"
            >
              {running.isStopping ? texts.stopping : texts.stop}
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}
