import { Conversation, type Entry } from './conversation';
import { element } from './dom';
import { type ChatElements, createElements } from './elements';
import { renderMarkdown } from './markdown';
import { readStored, store } from './storage';
import { style } from './style';
import { type Texts, textsFor } from './texts';

/**
 * The gateway that serves the script. Only known while a classic script is running, so
 * not in a bundle.
 */
const script = globalThis.document?.currentScript;
const scriptOrigin =
  script && 'src' in script ? new URL('..', script.src).href.replace(/\/$/, '') : '';

/** The log follows new messages when its end is as near as this, in pixels. */
const nearEndPx = 60;

/** On a server, which renders the page, there are no elements. */
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * `<parley-chat publishable-key="pk_…">`: a button in the corner of the page, and the chat that it
 * opens. Attributes: `heading`, `greeting`, `lang`, `theme` (`light` or `dark`), `identity-url`,
 * and `api-url`, which a bundle needs.
 */
export class ParleyChat extends Base {
  static readonly observedAttributes = [
    'publishable-key',
    'api-url',
    'identity-url',
    'heading',
    'greeting',
    'lang',
  ];
  #conversation: Conversation | undefined;
  #texts!: Texts;
  /** The language of texts and times. */
  #language!: string;
  #nodes!: ChatElements;
  #shown = new Map<Entry, { node: HTMLElement; state: string }>();
  #isScheduled = false;
  /** The last message when the log was visible. */
  #lastSeen: Entry | undefined;
  #announced = '';
  #countdown: ReturnType<typeof setInterval> | undefined;

  connectedCallback(): void {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    this.#language =
      [this.lang, document.documentElement.lang, navigator.language].find(isLanguage) ?? 'en';
    this.#texts = textsFor(this.#language);
    this.#nodes = createElements(
      this.#texts,
      this.getAttribute('heading'),
      this.getAttribute('greeting'),
    );
    const { launcher, panel, closeButton, earlier, form, input } = this.#nodes;
    root.replaceChildren(panel, launcher);
    launcher.addEventListener('click', () => (panel.hidden ? this.open() : this.close()));
    closeButton.addEventListener('click', () => this.close());
    panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
    earlier.addEventListener('click', () => void this.#readEarlier());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    input.addEventListener('keydown', (event) => {
      // Enter that ends the composition of a character does not send.
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#send();
    });
    // The chat was open on the page before, in this tab.
    if (readStored('sessionStorage', openKey(this.#key)) !== undefined) this.#show();
  }

  disconnectedCallback(): void {
    this.#conversation?.close();
    this.#conversation = undefined;
    clearInterval(this.#countdown);
    this.#shown.clear();
  }

  attributeChangedCallback(_name: string, before: string | null, after: string | null): void {
    if (!this.isConnected || this.shadowRoot === null || before === after) return;
    this.disconnectedCallback();
    this.connectedCallback();
  }

  /** Opens the chat and puts the focus on the message. */
  open(): void {
    this.#show();
    store('sessionStorage', openKey(this.#key), '1');
    this.#nodes.input.focus();
  }

  /** Closes the chat and returns the focus to its button. */
  close(): void {
    const { panel, launcher } = this.#nodes;
    const hadFocus = this.shadowRoot!.activeElement !== null;
    panel.hidden = true;
    launcher.setAttribute('aria-expanded', 'false');
    launcher.setAttribute('aria-label', this.#texts.open);
    store('sessionStorage', openKey(this.#key), null);
    if (this.#conversation) this.#conversation.isVisible = false;
    if (hadFocus) launcher.focus();
  }

  get #key(): string {
    return this.getAttribute('publishable-key') ?? '';
  }

  #show(): void {
    const { panel, launcher, log } = this.#nodes;
    panel.hidden = false;
    launcher.setAttribute('aria-expanded', 'true');
    launcher.setAttribute('aria-label', this.#texts.close);
    launcher.classList.remove('unread');
    if (this.#conversation === undefined) this.#begin();
    this.#conversation!.isVisible = true;
    // Reads what has arrived since.
    void this.#conversation!.start();
    log.scrollTop = log.scrollHeight;
  }

  #begin(): void {
    const baseUrl = this.getAttribute('api-url') ?? scriptOrigin;
    if (this.#key === '' || baseUrl === '')
      console.error(
        'parley-chat: the attributes publishable-key and, in a bundle, api-url are required',
      );
    const settings = { baseUrl, key: this.#key, identityUrl: this.getAttribute('identity-url') };
    this.#conversation = new Conversation(settings, () => this.#schedule());
  }

  #send(): void {
    const { input } = this.#nodes;
    if (input.value.trim() === '') return;
    this.#conversation!.send(input.value);
    input.value = '';
    this.#render();
    this.#nodes.log.scrollTop = this.#nodes.log.scrollHeight;
  }

  async #readEarlier(): Promise<void> {
    const { log } = this.#nodes;
    const fromEnd = log.scrollHeight - log.scrollTop;
    const conversation = this.#conversation!;
    await conversation.readEarlier().catch(() => {});
    // The element may have been removed.
    if (this.#conversation !== conversation) return;
    this.#render();
    // The messages that were visible stay where they are.
    log.scrollTop = log.scrollHeight - fromEnd;
    log.focus();
  }

  /** Renders at most once for each frame. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame(() => {
      this.#isScheduled = false;
      if (this.#conversation !== undefined) this.#render();
    });
  }

  #render(): void {
    const { log, dots, earlier, panel, launcher } = this.#nodes;
    const { entries, isAnswering, hasEarlier } = this.#conversation!;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < nearEndPx;
    earlier.hidden = !hasEarlier;
    const known = new Set(entries);
    for (const [entry, { node }] of this.#shown) {
      if (known.has(entry)) continue;
      node.remove();
      this.#shown.delete(entry);
    }
    let before: Element = earlier.nextElementSibling!;
    for (const entry of entries) {
      const { node } = this.#entry(entry);
      if (before.nextElementSibling !== node) before.after(node);
      before = node;
    }
    const last = entries.at(-1);
    dots.hidden = !isAnswering || (last?.from === 'agent' && last.text !== '');
    // A screen reader reads the answer when it is complete.
    log.setAttribute('aria-busy', String(isAnswering));
    if (!panel.hidden) this.#lastSeen = last;
    else if (last !== this.#lastSeen && last?.from !== 'visitor' && !isAnswering) {
      launcher.classList.add('unread');
      launcher.setAttribute('aria-label', this.#texts.openUnread);
    }
    if (isAtEnd) log.scrollTop = log.scrollHeight;
    this.#renderStatus();
  }

  #entry(entry: Entry) {
    const { from, text, state = '', createdAt } = entry;
    const shownState = `${state} ${text.length}`;
    let shown = this.#shown.get(entry);
    if (shown === undefined) {
      const node = element('div', { class: `entry ${from}` });
      this.#shown.set(entry, (shown = { node, state: '' }));
    }
    if (shown.state === shownState) return shown;
    shown.state = shownState;
    const content = from === 'visitor' ? [text] : renderMarkdown(text);
    const who = { visitor: this.#texts.you, agent: this.#texts.agent, person: this.#texts.person }[
      from
    ];
    const title = new Date(createdAt).toLocaleString(this.#language, {
      dateStyle: 'medium',
      timeStyle: 'short',
    });
    shown.node.replaceChildren(
      element('span', { class: 'hidden' }, `${who}: `),
      element('div', { class: 'text', dir: 'auto', title }, ...content),
      ...this.#notesOf(entry),
    );
    return shown;
  }

  #notesOf(entry: Entry): HTMLElement[] {
    if (entry.from === 'person') return [element('div', { class: 'note' }, this.#texts.person)];
    if (entry.state === 'sending') return [element('div', { class: 'note' }, this.#texts.sending)];
    if (entry.state !== 'failed') return [];
    return [
      element(
        'div',
        { class: 'note failed' },
        `${this.#texts.notSent} `,
        this.#again(() => this.#conversation!.retry(entry)),
      ),
    ];
  }

  #again(run: () => void): HTMLButtonElement {
    const button = element('button', { type: 'button' }, this.#texts.tryAgain);
    button.addEventListener('click', run);
    return button;
  }

  #renderStatus(): void {
    const { pause, isAnswering, isWithPerson, hasFailed, isRefused } = this.#conversation!;
    const { status, announced } = this.#nodes;
    clearInterval(this.#countdown);
    const text =
      pause !== null
        ? this.#texts[pause.reason]
        : isRefused
          ? this.#texts.unavailable
          : hasFailed && !isAnswering
            ? this.#texts.noAnswer
            : isWithPerson
              ? this.#texts.personAnswers
              : '';
    const said = text || (isAnswering ? this.#texts.writing : '');
    if (this.#announced !== said) announced.textContent = this.#announced = said;
    status.classList.toggle('failed', pause !== null || hasFailed || isRefused);
    status.replaceChildren(...(text === '' ? [] : [text]));
    if (pause === null) {
      if (hasFailed && !isAnswering)
        status.append(
          ' ',
          this.#again(() => this.#conversation!.retry()),
        );
      return;
    }
    const seconds = document.createTextNode('');
    const count = () => {
      const left = Math.max(1, Math.ceil((pause.untilMs - Date.now()) / 1_000));
      seconds.data = ` ${this.#texts.nextTry.replace('{seconds}', String(left))}`;
    };
    count();
    status.append(seconds);
    this.#countdown = setInterval(count, 1_000);
  }
}

/** Whether a text is a language tag, such as `es-CL`. */
function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

const openKey = (key: string) => `parley-chat open ${key}`;
