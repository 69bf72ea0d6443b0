import { ParleyChat } from './parley-chat';

export { ParleyChat };

// On a server, which renders the page, there are no elements. A second copy of the script
// changes nothing.
if (globalThis.customElements?.get('parley-chat') === undefined)
  globalThis.customElements?.define('parley-chat', ParleyChat);
