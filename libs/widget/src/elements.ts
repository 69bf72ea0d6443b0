import { element, icon } from './dom';
import { renderMarkdown } from './markdown';
import type { Texts } from './texts';

const icons = {
  chat: 'M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5z',
  close: 'M6 6l12 12M18 6L6 18',
  send: 'M4 12h15M13 6l6 6-6 6',
};
/** Longest message, in characters. */
const maxMessageChars = 8_000;
export type ChatElements = ReturnType<typeof createElements>;

/** The elements of the shadow root. */
export function createElements(texts: Texts, heading: string | null, greeting: string | null) {
  const launcher = element(
    'button',
    {
      class: 'launcher',
      type: 'button',
      'aria-expanded': 'false',
      'aria-controls': 'panel',
      'aria-label': texts.open,
    },
    icon(icons.chat),
  );
  const closeButton = element(
    'button',
    { class: 'icon', type: 'button', 'aria-label': texts.close },
    icon(icons.close),
  );
  const earlier = element('button', { class: 'earlier', type: 'button' }, texts.earlier);
  const dots = element(
    'div',
    { class: 'dots', 'aria-hidden': 'true' },
    element('i'),
    element('i'),
    element('i'),
  );
  const greetingEntry = element(
    'div',
    { class: 'entry agent' },
    element('div', { class: 'text', dir: 'auto' }),
  );
  greetingEntry.hidden = greeting === null;
  greetingEntry.firstElementChild!.append(...renderMarkdown(greeting ?? ''));
  const log = element(
    'div',
    { class: 'log', role: 'log', tabindex: '0', 'aria-label': texts.messages },
    ...[earlier, greetingEntry, dots],
  );
  // The countdown changes each second, so a screen reader gets the text without it.
  const status = element('div', { class: 'status', 'aria-live': 'off' });
  const announced = element('div', { class: 'hidden', role: 'status' });
  const input = element('textarea', {
    rows: '1',
    placeholder: texts.placeholder,
    'aria-label': texts.yourMessage,
    enterkeyhint: 'send',
    maxlength: String(maxMessageChars),
    dir: 'auto',
  });
  const send = element(
    'button',
    { class: 'icon send', 'aria-label': texts.send },
    icon(icons.send),
  );
  const form = element('form', {}, input, send);
  const panel = element(
    'div',
    { class: 'panel', id: 'panel', role: 'dialog', 'aria-labelledby': 'heading' },
    element('header', {}, element('h2', { id: 'heading' }, heading ?? texts.heading), closeButton),
    ...[log, status, announced, form],
  );
  panel.hidden = dots.hidden = earlier.hidden = true;
  return { launcher, panel, closeButton, earlier, log, dots, status, announced, form, input };
}
