/**
 * `<parley-chat publishable-key="pk_…">`: a button in the corner of the page, and the chat that
 * it opens. Attributes: `publishable-key`, `api-url`, `identity-url`, `heading`, `greeting`,
 * `lang`, `theme`.
 */
export declare class ParleyChat extends HTMLElement {
  /** Opens the chat and puts the focus on the message. */
  open(): void;
  /** Closes the chat and returns the focus to its button. */
  close(): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'parley-chat': ParleyChat;
  }
}
