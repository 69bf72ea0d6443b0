// Written by `node tools/reference.mjs` from the operations in libs/contracts/src/operations/manage. Change them, not this file.
import type { Entity } from '../data-types';
import type { Json, JsonObject } from '../json';
import type { CallOptions } from '../request';

/** Method, path below `/v1`, and `once` for operations that take an idempotency key or `raw` for files. */
export const routes: Record<string, string> = {
  listThreads: 'GET threads',
  countThreads: 'GET thread-counts',
  getThread: 'GET threads/:id',
  listThreadMessages: 'GET threads/:id/messages',
  getThreadMessage: 'GET threads/:id/messages/:messageId',
  replyToThread: 'POST threads/:id/messages once',
  addThreadNote: 'POST threads/:id/notes once',
  takeOverThread: 'POST threads/:id/takeover',
  resumeThread: 'POST threads/:id/resume',
  changeThread: 'PATCH threads/:id',
  eraseThread: 'DELETE threads/:id',
  readThread: 'POST threads/:id/read',
  visitThread: 'POST threads/:id/presence',
  listChannelMessages: 'GET messages',
  getChannelMessage: 'GET messages/:id',
  getMessageMedia: 'GET messages/:id/media raw',
  retryChannelMessage: 'POST messages/:id/retry',
  listEmails: 'GET emails',
  getEmail: 'GET emails/:id',
  retryEmail: 'POST emails/:id/retry',
  getContact: 'GET contacts/:id',
  listChannels: 'GET channels',
  connectChannel: 'POST channels once',
  updateChannel: 'PATCH channels/:id',
  disconnectChannel: 'DELETE channels/:id',
  listChannelTemplates: 'GET channels/:id/templates',
  listWebhookDeliveries: 'GET webhook-deliveries',
  replayWebhookDeliveries: 'POST webhook-deliveries/replay',
  getWebhookDelivery: 'GET webhook-deliveries/:id',
  replayWebhookDelivery: 'POST webhook-deliveries/:id/replay',
  getWebhookReplay: 'GET webhook-replays/:id',
  listTriggers: 'GET triggers',
  enableTrigger: 'POST triggers/:slug/enable',
  disableTrigger: 'POST triggers/:slug/disable',
  listTriggerRuns: 'GET trigger-runs',
  retryTriggerRuns: 'POST trigger-runs/retry',
  cancelTriggerRuns: 'POST trigger-runs/cancel',
  getTriggerRun: 'GET trigger-runs/:id',
  retryTriggerRun: 'POST trigger-runs/:id/retry',
  cancelTriggerRun: 'POST trigger-runs/:id/cancel',
  listPayments: 'GET payments',
  getPayment: 'GET payments/:id',
  reconcilePayment: 'POST payments/:id/reconcile',
  reconcilePayments: 'POST payments/reconcile',
  getCredits: 'GET credits',
  listCreditEntries: 'GET credits/entries',
  listApiKeys: 'GET api-keys',
  createApiKey: 'POST api-keys',
  rotateApiKey: 'POST api-keys/:id/rotate',
  revokeApiKey: 'DELETE api-keys/:id',
  listPublishableKeys: 'GET publishable-keys',
  createPublishableKey: 'POST publishable-keys',
  revokePublishableKey: 'DELETE publishable-keys/:id',
  listIntegrations: 'GET integrations',
  getIntegration: 'GET integrations/:provider',
  createIntegration: 'POST integrations',
  updateIntegration: 'PATCH integrations/:provider',
  testIntegration: 'POST integrations/:provider/test',
  removeIntegration: 'DELETE integrations/:provider',
  listEvents: 'GET events',
  followEvents: 'GET events/next',
  streamEvents: 'GET events/stream raw',
  getOrganization: 'GET organization',
  changeOrganization: 'PATCH organization',
  listAuditLog: 'GET audit-log',
  listAgents: 'GET agents',
  getAgent: 'GET agents/:slug',
  listRouters: 'GET routers',
  listTools: 'GET tools',
  listRoles: 'GET roles',
  listSearchIndexes: 'GET search-indexes',
  listExecutions: 'GET executions',
  startExecution: 'POST executions once',
  getExecution: 'GET executions/:id',
  streamExecution: 'GET executions/:id/stream raw',
  streamThread: 'GET threads/:id/stream raw',
  cancelExecution: 'POST executions/:id/cancel',
  getStatistics: 'GET statistics',
  getHealthReport: 'GET health-report',
  getSignInWays: 'GET sign-in',
  beginOidcSignIn: 'POST sign-in/oidc',
  finishOidcSignIn: 'GET sign-in/oidc/callback',
  getIdentityConfirmation: 'GET sign-in/oidc/confirmation',
  confirmIdentity: 'POST sign-in/oidc/confirmation',
  declineIdentity: 'DELETE sign-in/oidc/confirmation',
  signIn: 'POST sessions',
  signOut: 'DELETE sessions/current',
  endSession: 'DELETE sessions/:id',
  listSessions: 'GET sessions',
  getMe: 'GET me',
  changePassword: 'POST me/password',
  changeEmail: 'POST me/email',
  confirmEmail: 'POST me/email/confirm',
  requestPasswordReset: 'POST sign-in/password-reset',
  showPasswordReset: 'POST sign-in/password-reset/show',
  completePasswordReset: 'POST sign-in/password-reset/complete',
  listMembers: 'GET members',
  changeMember: 'PATCH members/:id',
  removeMember: 'DELETE members/:id',
  listInvitations: 'GET invitations',
  createInvitation: 'POST invitations',
  revokeInvitation: 'DELETE invitations/:id',
  showInvitation: 'POST invitations/show',
  acceptInvitation: 'POST invitations/accept',
  listToolSecrets: 'GET tool-secrets',
  setToolSecret: 'POST tool-secrets',
  deleteToolSecret: 'DELETE tool-secrets/:name',
};

/** The operations of the management API by their `operationId`. */
export interface ManageClient {
  /** List threads. Threads of the environment, the one with the contact's latest message first. A thread that gets a message between two pages moves to the front. */
  listThreads(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only threads that this agent answered last. */
    agent?: string;
    /** Only threads of this channel. */
    channel?: string;
    /** Only threads that the agent or a person answers, or that wait for a person. */
    state?: 'agent' | 'human' | 'waiting';
    /** Only open or only closed threads. */
    status?: 'open' | 'closed';
    /** Only threads that this person looks after. */
    assignee?: string;
    /** Only threads that the caller has not read. */
    unread?: 'true';
    /** A part of the contact's name or of the external id. */
    q?: string;
    /** Only threads with this label. */
    label?: string;
    /** Only threads with a message of the contact since this time. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the thread. */
      id: string;
      /** The client's or the channel's id of the conversation. */
      externalId: string | null;
      /** `api`, `whatsapp`, `widget` or `dashboard`. */
      channel: string;
      /** The agent that answered last. */
      agentSlug: string | null;
      /** The name that the contact uses on the channel, at most its first 200 characters. */
      contactName: string | null;
      /** Who answers: the agent, a person, or none until a person does (`waiting`). */
      state: 'agent' | 'human' | 'waiting';
      /** A message of the contact opens a closed thread. */
      status: 'open' | 'closed';
      /** Id of the person who looks after the thread. */
      assigneeId: string | null;
      /** Labels, in the order that they were set. */
      labels: string[];
      /** Who answers, in state `human`. */
      takenOverBy: {
        /** `phone`: a person with the phone's own app. */
        type: 'person' | 'api_key' | 'phone';
        /** Id of the person or of the API key. */
        id: string;
        /** Name of the person, else the e-mail address; or name of the key. */
        name: string;
      } | null;
      /** When the person took the thread over. Unix milliseconds. */
      takenOverAt: number | null;
      /** When the agent answers again. Null: when a person says so. Unix milliseconds. */
      resumesAt: number | null;
      /** When the agent asked for a person, in state `waiting`. Unix milliseconds. */
      waitingSince: number | null;
      /** Why the agent asked for a person. */
      waitingReason: string | null;
      /** The contact has written since the caller has marked the thread as read. */
      isUnread: boolean;
      /** Number of messages that were received. */
      turnCount: number;
      /** When the first message arrived. Unix milliseconds. */
      createdAt: number;
      /** When the contact's last message arrived. Unix milliseconds. */
      lastMessageAt: number;
      /** The first 200 characters of the last message that was received. */
      lastInput: string | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Count open threads. Open threads by state. No number is higher than 1,000, which means 1,000 or more. */
  countThreads(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** Open threads that the agent answers. */
    agent: number;
    /** Open threads that a person answers. */
    human: number;
    /** Open threads that wait for a person. */
    waiting: number;
    /** Open threads that the caller looks after. */
    mine: number;
  }>;
  /** Retrieve a thread. */
  getThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the thread. */
    id: string;
    /** The client's or the channel's id of the conversation. */
    externalId: string | null;
    /** `api`, `whatsapp`, `widget` or `dashboard`. */
    channel: string;
    /** The agent that answered last. */
    agentSlug: string | null;
    /** The name that the contact uses on the channel, at most its first 200 characters. */
    contactName: string | null;
    /** Who answers: the agent, a person, or none until a person does (`waiting`). */
    state: 'agent' | 'human' | 'waiting';
    /** A message of the contact opens a closed thread. */
    status: 'open' | 'closed';
    /** Id of the person who looks after the thread. */
    assigneeId: string | null;
    /** Labels, in the order that they were set. */
    labels: string[];
    /** Who answers, in state `human`. */
    takenOverBy: {
      /** `phone`: a person with the phone's own app. */
      type: 'person' | 'api_key' | 'phone';
      /** Id of the person or of the API key. */
      id: string;
      /** Name of the person, else the e-mail address; or name of the key. */
      name: string;
    } | null;
    /** When the person took the thread over. Unix milliseconds. */
    takenOverAt: number | null;
    /** When the agent answers again. Null: when a person says so. Unix milliseconds. */
    resumesAt: number | null;
    /** When the agent asked for a person, in state `waiting`. Unix milliseconds. */
    waitingSince: number | null;
    /** Why the agent asked for a person. */
    waitingReason: string | null;
    /** The contact has written since the caller has marked the thread as read. */
    isUnread: boolean;
    /** Number of messages that were received. */
    turnCount: number;
    /** When the first message arrived. Unix milliseconds. */
    createdAt: number;
    /** When the contact's last message arrived. Unix milliseconds. */
    lastMessageAt: number;
    /** The values that prompts read as `threadContext.params`. */
    params: JsonObject;
    /** Transfers to other agents since the last pause of four hours. */
    transferCount: number;
    /** Who has the thread open. */
    visitors: Array<{
      /** `phone`: a person with the phone's own app. */
      type: 'person' | 'api_key' | 'phone';
      /** Id of the person or of the API key. */
      id: string;
      /** Name of the person, else the e-mail address; or name of the key. */
      name: string;
      /** Whether this visitor is writing a reply. */
      isTyping: boolean;
    }>;
    /** The contact in `/v1/contacts/:id`. Null for channels without contacts. */
    contactId: string | null;
    /**
     * The only entity of the connection's contact type that has the contact's number in a phone field, as `56912345678`
     * or `+56912345678`. Null when none or several have it. `actor.entityId` finds other spellings too.
     */
    entity: {
      /** Slug of the entity type. */
      type: string;
      /** Id of the entity. */
      id: string;
    } | null;
    /**
     * Until when WhatsApp takes a reply that is no template. Null: it takes none, or the thread is not one of WhatsApp.
     * Unix milliseconds.
     */
    windowEndsAt: number | null;
  }>;
  /** List the messages of a thread. What the contact, the agent and people wrote, newest first. Long texts are cut, which `isTruncated` says. Results of tools are in the execution. */
  listThreadMessages(input: {
    /** Id of the thread, or its external id. */
    id: string;
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the message. */
      id: string;
      /** The execution of its turn, which has the tool calls. */
      executionId: string;
      /**
       * `user`: from the contact. `assistant`: to the contact. `note`: for people only. `system`: from a person to the
       * agent.
       */
      role: 'user' | 'assistant' | 'note' | 'system';
      /** The person who wrote it. Null: the contact or the agent. */
      author: {
        /** `phone`: a person with the phone's own app. */
        type: 'person' | 'api_key' | 'phone';
        /** Id of the person or of the API key. */
        id: string;
        /** Name of the person, else the e-mail address; or name of the key. */
        name: string;
      } | null;
      /**
       * The text, at most its first 65,536 characters. May be empty for a message of the agent that only calls tools.
       */
      content: string;
      /** Ids of the tool calls that the message asks for. */
      toolCallIds: string[];
      /** Id of the contact's message in `/v1/messages`, which may have a file. Null on channel `api`. */
      channelMessageId: string | null;
      /** How a message to the contact was delivered. Null on channel `api`. */
      delivery: {
        /** Id of the message, or of its last retry, in `/v1/messages`. */
        id: string;
        /** `queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` or `held`. */
        status: string;
        /** Why it failed, or the reason of the last attempt. */
        error: string | null;
      } | null;
      /** When it was stored. Unix milliseconds. */
      createdAt: number;
      /** The text is only its beginning. `GET /v1/threads/:id/messages/:messageId` returns all of it. */
      isTruncated?: true;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Get a message of a thread. Returns one message with all its text, which a list cuts. */
  getThreadMessage(input: {
    /** Id of the thread, or its external id. */
    id: string;
    /** Id of the message. */
    messageId: string;
  }, options?: CallOptions): Promise<{
    /** Id of the message. */
    id: string;
    /** The execution of its turn, which has the tool calls. */
    executionId: string;
    /**
     * `user`: from the contact. `assistant`: to the contact. `note`: for people only. `system`: from a person to the
     * agent.
     */
    role: 'user' | 'assistant' | 'note' | 'system';
    /** The person who wrote it. Null: the contact or the agent. */
    author: {
      /** `phone`: a person with the phone's own app. */
      type: 'person' | 'api_key' | 'phone';
      /** Id of the person or of the API key. */
      id: string;
      /** Name of the person, else the e-mail address; or name of the key. */
      name: string;
    } | null;
    /** The text. May be empty for a message of the agent that only calls tools. */
    content: string;
    /** Ids of the tool calls that the message asks for. */
    toolCallIds: string[];
    /** Id of the contact's message in `/v1/messages`, which may have a file. Null on channel `api`. */
    channelMessageId: string | null;
    /** How a message to the contact was delivered. Null on channel `api`. */
    delivery: {
      /** Id of the message, or of its last retry, in `/v1/messages`. */
      id: string;
      /** `queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` or `held`. */
      status: string;
      /** Why it failed, or the reason of the last attempt. */
      error: string | null;
    } | null;
    /** When it was stored. Unix milliseconds. */
    createdAt: number;
  }>;
  /** Reply to the contact. Stores a reply of a person in the thread, takes the thread over for this person, and sends the reply over the channel, once. A reply of the agent that is already in the outbox is sent before it; one that is not, is dropped. On other channels than WhatsApp the reply is stored and not sent: the contact reads it with the messages of the thread. More than 24 hours after the last message of the contact, WhatsApp takes only templates: `window_closed`. */
  replyToThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  } & {
    /** The text, or the text beside the file. */
    text?: string;
    /** A template, which may be sent at any time. Without text and file. */
    template?: {
      /** Name of the template. */
      name: string;
      /** Its language, such as `es` or `en_US`. */
      language: string;
      /** Values of its variables, in Meta's form. */
      components?: JsonObject[];
    };
    /** One file. Its type is read from the bytes. */
    file?: {
      /** The name that the contact sees. */
      filename: string;
      /** The bytes in Base64; at most 10 MiB. */
      data: string;
    };
    /** The last message that the writer has seen. If there is a newer one, nothing is sent: `thread_changed`. */
    lastMessageId?: string;
  }, options?: CallOptions): Promise<{
    /** Id of the message in the thread. */
    id: string;
    /** Id of the message in `/v1/messages`. Null on channel `api`. */
    channelMessageId: string | null;
  }>;
  /** Add a note to a thread. A note for people. Neither the contact nor the agent gets it. */
  addThreadNote(input: {
    /** Id of the thread, or its external id. */
    id: string;
  } & {
    /** The note. Only people read it. */
    text: string;
  }, options?: CallOptions): Promise<{
    /** Id of the note. */
    id: string;
  }>;
  /** Take a thread over. What the contact writes after this is stored, and the agent does not answer it. A message that the agent is answering now gets no reply, and the agent calls no further tool for it. */
  takeOverThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  } & {
    /** When the agent answers again. Absent: when the takeover is ended. Unix milliseconds. */
    until?: number;
  }, options?: CallOptions): Promise<{
    /** Id of the thread. */
    id: string;
    /** Who answers from now on. */
    state: 'agent' | 'human' | 'waiting';
    /** False if it was so already. */
    changed: boolean;
  }>;
  /** End a takeover. The agent answers again. On WhatsApp, if the last message of the contact has no answer, the agent answers it now, once. On other channels it answers the next message. */
  resumeThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  } & {
    /** What the agent should know. The contact does not get it. */
    note?: string;
  }, options?: CallOptions): Promise<{
    /** Id of the thread. */
    id: string;
    /** Who answers from now on. */
    state: 'agent' | 'human' | 'waiting';
    /** False if it was so already. */
    changed: boolean;
    /** The agent now answers the last message of the contact, which had no answer. */
    answering: boolean;
  }>;
  /** Assign, close or label a thread. */
  changeThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  } & {
    /** The person who looks after it. Null: none. */
    assigneeId?: string | null;
    /** Whether the thread is done. */
    status?: 'open' | 'closed';
    /** All labels, at most 20. */
    labels?: string[];
  }, options?: CallOptions): Promise<{
    /** Id of the thread. */
    id: string;
    /** The client's or the channel's id of the conversation. */
    externalId: string | null;
    /** `api`, `whatsapp`, `widget` or `dashboard`. */
    channel: string;
    /** The agent that answered last. */
    agentSlug: string | null;
    /** The name that the contact uses on the channel, at most its first 200 characters. */
    contactName: string | null;
    /** Who answers: the agent, a person, or none until a person does (`waiting`). */
    state: 'agent' | 'human' | 'waiting';
    /** A message of the contact opens a closed thread. */
    status: 'open' | 'closed';
    /** Id of the person who looks after the thread. */
    assigneeId: string | null;
    /** Labels, in the order that they were set. */
    labels: string[];
    /** Who answers, in state `human`. */
    takenOverBy: {
      /** `phone`: a person with the phone's own app. */
      type: 'person' | 'api_key' | 'phone';
      /** Id of the person or of the API key. */
      id: string;
      /** Name of the person, else the e-mail address; or name of the key. */
      name: string;
    } | null;
    /** When the person took the thread over. Unix milliseconds. */
    takenOverAt: number | null;
    /** When the agent answers again. Null: when a person says so. Unix milliseconds. */
    resumesAt: number | null;
    /** When the agent asked for a person, in state `waiting`. Unix milliseconds. */
    waitingSince: number | null;
    /** Why the agent asked for a person. */
    waitingReason: string | null;
    /** The contact has written since the caller has marked the thread as read. */
    isUnread: boolean;
    /** Number of messages that were received. */
    turnCount: number;
    /** When the first message arrived. Unix milliseconds. */
    createdAt: number;
    /** When the contact's last message arrived. Unix milliseconds. */
    lastMessageAt: number;
    /** The values that prompts read as `threadContext.params`. */
    params: JsonObject;
    /** Transfers to other agents since the last pause of four hours. */
    transferCount: number;
    /** Who has the thread open. */
    visitors: Array<{
      /** `phone`: a person with the phone's own app. */
      type: 'person' | 'api_key' | 'phone';
      /** Id of the person or of the API key. */
      id: string;
      /** Name of the person, else the e-mail address; or name of the key. */
      name: string;
      /** Whether this visitor is writing a reply. */
      isTyping: boolean;
    }>;
    /** The contact in `/v1/contacts/:id`. Null for channels without contacts. */
    contactId: string | null;
    /**
     * The only entity of the connection's contact type that has the contact's number in a phone field, as `56912345678`
     * or `+56912345678`. Null when none or several have it. `actor.entityId` finds other spellings too.
     */
    entity: {
      /** Slug of the entity type. */
      type: string;
      /** Id of the entity. */
      id: string;
    } | null;
    /**
     * Until when WhatsApp takes a reply that is no template. Null: it takes none, or the thread is not one of WhatsApp.
     * Unix milliseconds.
     */
    windowEndsAt: number | null;
  }>;
  /** Erase a thread. Deletes the thread with its messages, executions and prompts, and the messages and files of its contact on the channel. This cannot be undone. */
  eraseThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The thread was deleted with everything in it. */
    erased: true;
  }>;
  /** Mark a thread as read. Read marks belong to the caller. */
  readThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** It was stored. */
    ok: true;
  }>;
  /** Say that a thread is open. Others see the caller in `visitors` of the thread. */
  visitThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
  } & {
    /** True counts for 45 seconds: repeat it while the thread is open. */
    isOpen: boolean;
    /** The caller is writing a reply. True counts for 6 seconds. Absent: as before. */
    isTyping?: boolean;
  }, options?: CallOptions): Promise<{
    /** It was stored. */
    ok: true;
  }>;
  /** List messages of channels. Returns messages from and to contacts, newest first, with their status at the provider. */
  listChannelMessages(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only messages with this status. */
    status?: string;
    /** Only messages in this direction. */
    direction?: 'inbound' | 'outbound';
    /** Only messages of this contact: a phone number in any spelling, or an id. */
    contact?: string;
    /** Only messages of this thread. */
    threadId?: string;
    /** Only messages from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the message. */
      id: string;
      /** The provider's id. Null until the provider accepts the message. */
      messageId: string | null;
      /** `inbound`: sent by the contact. */
      direction: 'inbound' | 'outbound';
      /** Id of the contact. */
      contact: string;
      /** Id of the thread that the message belongs to. */
      threadId: string | null;
      /** Type at the provider, such as `text`, `image` or `template`. */
      type: string;
      /** The text that people read; in a list at most its first 65,536 characters. */
      text: string | null;
      /** The text is only its beginning. `GET /v1/messages/:id` returns all of it. */
      isTruncated?: true;
      /** `phone`: a person sent it with the app of the phone itself. */
      origin: 'phone' | null;
      /** The place of a message of type `location`. */
      location: {
        /** Degrees, from -90 to 90. */
        latitude: number;
        /** Degrees, from -180 to 180. */
        longitude: number;
        /** The name of the place. */
        name: string | null;
        /** Its address. */
        address: string | null;
      } | null;
      /** The content of a message of type `reaction`. */
      reaction: {
        /** Empty: the contact removed the reaction. */
        emoji: string;
        /** The provider's id of the message that the contact reacted to. */
        messageId: string | null;
      } | null;
      /** What a message of type `contacts` shares. */
      contacts: Array<{
        /** The name of the contact. */
        name: string | null;
        /** Its phone numbers, as they were shared. */
        phoneNumbers: string[];
      }> | null;
      /**
       * Outbound: `queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` (it may have been sent) or
       * `held`. Inbound: `received`, `answering`, `answered`, `stored`, `failed` or `held`.
       */
      status: string;
      /** Attempts to send or to answer it. */
      attempts: number;
      /** Why it failed, or the reason of the last attempt. */
      error: string | null;
      /** The file of the message. */
      media: {
        /** `ready`: the file can be read. `failed`: it could not be fetched from the provider. */
        status: 'pending' | 'fetching' | 'ready' | 'failed';
        /** The file's name on the sender's device. */
        filename: string | null;
        /** The type that the bytes of the file have. */
        contentType: string | null;
        /** Size in bytes. */
        size: number | null;
        /** Why the file was not fetched. */
        error: string | null;
      } | null;
      /** When the message was stored. Unix milliseconds. */
      createdAt: number;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Retrieve a message. */
  getChannelMessage(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the message. */
    id: string;
    /** The provider's id. Null until the provider accepts the message. */
    messageId: string | null;
    /** `inbound`: sent by the contact. */
    direction: 'inbound' | 'outbound';
    /** Id of the contact. */
    contact: string;
    /** Id of the thread that the message belongs to. */
    threadId: string | null;
    /** Type at the provider, such as `text`, `image` or `template`. */
    type: string;
    /** The text that people read; in a list at most its first 65,536 characters. */
    text: string | null;
    /** The text is only its beginning. `GET /v1/messages/:id` returns all of it. */
    isTruncated?: true;
    /** `phone`: a person sent it with the app of the phone itself. */
    origin: 'phone' | null;
    /** The place of a message of type `location`. */
    location: {
      /** Degrees, from -90 to 90. */
      latitude: number;
      /** Degrees, from -180 to 180. */
      longitude: number;
      /** The name of the place. */
      name: string | null;
      /** Its address. */
      address: string | null;
    } | null;
    /** The content of a message of type `reaction`. */
    reaction: {
      /** Empty: the contact removed the reaction. */
      emoji: string;
      /** The provider's id of the message that the contact reacted to. */
      messageId: string | null;
    } | null;
    /** What a message of type `contacts` shares. */
    contacts: Array<{
      /** The name of the contact. */
      name: string | null;
      /** Its phone numbers, as they were shared. */
      phoneNumbers: string[];
    }> | null;
    /**
     * Outbound: `queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` (it may have been sent) or
     * `held`. Inbound: `received`, `answering`, `answered`, `stored`, `failed` or `held`.
     */
    status: string;
    /** Attempts to send or to answer it. */
    attempts: number;
    /** Why it failed, or the reason of the last attempt. */
    error: string | null;
    /** The file of the message. */
    media: {
      /** `ready`: the file can be read. `failed`: it could not be fetched from the provider. */
      status: 'pending' | 'fetching' | 'ready' | 'failed';
      /** The file's name on the sender's device. */
      filename: string | null;
      /** The type that the bytes of the file have. */
      contentType: string | null;
      /** Size in bytes. */
      size: number | null;
      /** Why the file was not fetched. */
      error: string | null;
    } | null;
    /** When the message was stored. Unix milliseconds. */
    createdAt: number;
  }>;
  /** Retrieve the file of a message. The bytes of the picture, sound or document. JPEG, PNG, GIF and WebP pictures and sounds are sent `inline`, everything else as an attachment. Ranges are not supported. */
  getMessageMedia(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<Response>;
  /** Send or answer a failed message again. A failed outbound message is sent, a failed inbound one is answered. A message that the provider may have seen is replaced by one new message, however often it is retried. */
  retryChannelMessage(input: {
    /** Id of the resource. */
    id: string;
  } & {
    /** Sends again what the recipient may already have received (status `unknown`). */
    anyway?: boolean;
  }, options?: CallOptions): Promise<{
    /** Id of what is sent: the resource itself, or the message that replaces it. */
    id: string;
  }>;
  /** List e-mails. */
  listEmails(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only e-mails with this status. */
    status?: string;
    /** Only e-mails from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the e-mail. */
      id: string;
      /** The provider's id. */
      providerId: string | null;
      /** Recipients. */
      to: string[];
      /** The subject of the e-mail. */
      subject: string;
      /**
       * `queued`, `sending`, `sent`, `delivered`, `bounced`, `complained`, `failed`, `unknown` (it may have been sent)
       * or `held`.
       */
      status: string;
      /** Attempts to send it. */
      attempts: number;
      /** Why it failed, or the reason of the last attempt. */
      error: string | null;
      /** When the e-mail was stored. Unix milliseconds. */
      createdAt: number;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Retrieve an e-mail. */
  getEmail(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the e-mail. */
    id: string;
    /** The provider's id. */
    providerId: string | null;
    /** Recipients. */
    to: string[];
    /** The subject of the e-mail. */
    subject: string;
    /**
     * `queued`, `sending`, `sent`, `delivered`, `bounced`, `complained`, `failed`, `unknown` (it may have been sent) or
     * `held`.
     */
    status: string;
    /** Attempts to send it. */
    attempts: number;
    /** Why it failed, or the reason of the last attempt. */
    error: string | null;
    /** When the e-mail was stored. Unix milliseconds. */
    createdAt: number;
  }>;
  /** Send a failed e-mail again. The provider keeps the idempotency key of an e-mail for a day. After that an e-mail whose status is `unknown` needs `anyway`. */
  retryEmail(input: {
    /** Id of the resource. */
    id: string;
  } & {
    /** Sends again what the recipient may already have received (status `unknown`). */
    anyway?: boolean;
  }, options?: CallOptions): Promise<{
    /** Id of what is sent: the resource itself, or the message that replaces it. */
    id: string;
  }>;
  /** Retrieve a contact. Accepts any alias of the contact: a phone number in any spelling, or a scoped id. */
  getContact(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the contact: the digits of its first known phone number, else its scoped id. */
    id: string;
    /** Latest known phone number, in digits. */
    phoneNumber: string | null;
    /** The name that the contact has on the channel. */
    name: string | null;
    /** Phone numbers and scoped ids of the contact. */
    aliases: string[];
    /** The contact's thread. Null before its first message is answered or stored in one. */
    thread: {
      /** Id of the thread. */
      id: string;
      /** Its external id. */
      externalId: string;
    } | null;
    /** The last 20 messages, newest first. */
    messages: Array<{
      /** Id of the message. */
      id: string;
      /** The provider's id. Null until the provider accepts the message. */
      messageId: string | null;
      /** `inbound`: sent by the contact. */
      direction: 'inbound' | 'outbound';
      /** Id of the contact. */
      contact: string;
      /** Id of the thread that the message belongs to. */
      threadId: string | null;
      /** Type at the provider, such as `text`, `image` or `template`. */
      type: string;
      /** The text that people read; in a list at most its first 65,536 characters. */
      text: string | null;
      /** The text is only its beginning. `GET /v1/messages/:id` returns all of it. */
      isTruncated?: true;
      /** `phone`: a person sent it with the app of the phone itself. */
      origin: 'phone' | null;
      /** The place of a message of type `location`. */
      location: {
        /** Degrees, from -90 to 90. */
        latitude: number;
        /** Degrees, from -180 to 180. */
        longitude: number;
        /** The name of the place. */
        name: string | null;
        /** Its address. */
        address: string | null;
      } | null;
      /** The content of a message of type `reaction`. */
      reaction: {
        /** Empty: the contact removed the reaction. */
        emoji: string;
        /** The provider's id of the message that the contact reacted to. */
        messageId: string | null;
      } | null;
      /** What a message of type `contacts` shares. */
      contacts: Array<{
        /** The name of the contact. */
        name: string | null;
        /** Its phone numbers, as they were shared. */
        phoneNumbers: string[];
      }> | null;
      /**
       * Outbound: `queued`, `sending`, `sent`, `delivered`, `read`, `failed`, `unknown` (it may have been sent) or
       * `held`. Inbound: `received`, `answering`, `answered`, `stored`, `failed` or `held`.
       */
      status: string;
      /** Attempts to send or to answer it. */
      attempts: number;
      /** Why it failed, or the reason of the last attempt. */
      error: string | null;
      /** The file of the message. */
      media: {
        /** `ready`: the file can be read. `failed`: it could not be fetched from the provider. */
        status: 'pending' | 'fetching' | 'ready' | 'failed';
        /** The file's name on the sender's device. */
        filename: string | null;
        /** The type that the bytes of the file have. */
        contentType: string | null;
        /** Size in bytes. */
        size: number | null;
        /** Why the file was not fetched. */
        error: string | null;
      } | null;
      /** When the message was stored. Unix milliseconds. */
      createdAt: number;
    }>;
  }>;
  /** List the connected channels. */
  listChannels(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** All connections of the environment, oldest first. */
    data: Array<{
      /** Id of the connection. */
      id: string;
      /** Kind of the channel. */
      channel: 'whatsapp';
      /** `pending` until the number is connected at the provider. */
      status: 'pending' | 'connected';
      /** The number, in digits. */
      phoneNumber: string | null;
      /** The provider's id of the number. */
      phoneNumberId: string | null;
      /** The provider's id of the customer. */
      customerId: string | null;
      /** Slug of the agent that answers. */
      agent: string | null;
      /** Slug of the router that chooses the agent. */
      router: string | null;
      /** Entity type whose entities are matched with contacts by phone number. */
      contactType: string | null;
      /** Whether the last registrations of the webhook failed, so that messages may not arrive. */
      webhookProblem: boolean;
    }>;
  }>;
  /** Connect a WhatsApp number. With `phoneNumberId`: connects a number of your account at the provider and registers its webhook. Connecting it again registers the webhook again. Without: makes a setup link, at which a person connects a number. With the account that organizations share, only customers that were made here and their numbers can be connected. */
  connectChannel(input?: {
    /** Slug of the agent that answers. */
    agent?: string;
    /** Slug of the router that chooses the agent. */
    router?: string;
    /** Entity type whose entities are matched with contacts by phone number. */
    contactType?: string | null;
    /** The provider's id of a number that is already connected there. Without it a setup link is made. */
    phoneNumberId?: string;
    /** The provider's id of the customer that the setup link is for. Without it a customer is created. */
    customerId?: string;
    /** Connects a number that does not exist at the provider, for sample deliveries. In development only. */
    isSimulated?: boolean;
    /** Name of the new customer at the provider. */
    name?: string;
  }, options?: CallOptions): Promise<{
    /** The channel. */
    channel: {
      /** Id of the connection. */
      id: string;
      /** Kind of the channel. */
      channel: 'whatsapp';
      /** `pending` until the number is connected at the provider. */
      status: 'pending' | 'connected';
      /** The number, in digits. */
      phoneNumber: string | null;
      /** The provider's id of the number. */
      phoneNumberId: string | null;
      /** The provider's id of the customer. */
      customerId: string | null;
      /** Slug of the agent that answers. */
      agent: string | null;
      /** Slug of the router that chooses the agent. */
      router: string | null;
      /** Entity type whose entities are matched with contacts by phone number. */
      contactType: string | null;
      /** Whether the last registrations of the webhook failed, so that messages may not arrive. */
      webhookProblem: boolean;
    };
    /** Address at which a person connects a number. Null when the number is connected. */
    setupLink: string | null;
  }>;
  /** Change who answers a channel. Applies from the next message of each contact on. */
  updateChannel(input: {
    /** Id of the resource. */
    id: string;
  } & {
    /** Slug of the agent that answers from now on. */
    agent?: string;
    /** Slug of the router that chooses the agent from now on. */
    router?: string;
    /** Entity type of the contacts. Null for none. */
    contactType?: string | null;
  }, options?: CallOptions): Promise<{
    /** Id of the connection. */
    id: string;
    /** Kind of the channel. */
    channel: 'whatsapp';
    /** `pending` until the number is connected at the provider. */
    status: 'pending' | 'connected';
    /** The number, in digits. */
    phoneNumber: string | null;
    /** The provider's id of the number. */
    phoneNumberId: string | null;
    /** The provider's id of the customer. */
    customerId: string | null;
    /** Slug of the agent that answers. */
    agent: string | null;
    /** Slug of the router that chooses the agent. */
    router: string | null;
    /** Entity type whose entities are matched with contacts by phone number. */
    contactType: string | null;
    /** Whether the last registrations of the webhook failed, so that messages may not arrive. */
    webhookProblem: boolean;
  }>;
  /** Disconnect a channel. Deletes its webhook at the provider, then the channel. Messages are kept; those that are not answered or sent yet end as failed or unknown. */
  disconnectChannel(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The channel is disconnected. */
    success: true;
  }>;
  /** List the message templates of a channel. Asks the provider. Outside the 24-hour window only a template can be sent. */
  listChannelTemplates(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Templates, as the provider describes them: `name`, `language`, `status`, `components`. */
    data: JsonObject[];
  }>;
  /** List webhook deliveries. Deliveries of the environment, and those of the whole organization. Deliveries that belong to no organization are left out. */
  listWebhookDeliveries(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only deliveries of this provider. */
    provider?: string;
    /** Only deliveries with this status. */
    status?: 
      | 'received'
      | 'processed'
      | 'ignored'
      | 'failed'
      | 'unattributed'
      | 'rejected'
      | 'held';
    /** Only deliveries received from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the delivery. */
      id: string;
      /** The provider's id, or one derived from its bytes. */
      deliveryId: string;
      /** Name of the provider. */
      provider: string;
      /** The path that it was sent to. */
      path: string;
      /** The provider's type of the event. */
      eventType: string | null;
      /** Whether its signature was checked. */
      signed: boolean;
      /** `received`: it waits for processing. `rejected`: refused, and not replayed. */
      status: 
        | 'received'
        | 'processed'
        | 'ignored'
        | 'failed'
        | 'unattributed'
        | 'rejected'
        | 'held';
      /** Attempts to process it since it was received or last replayed. */
      attempts: number;
      /** Why it failed or was ignored. */
      reason: string | null;
      /** When it was received. Unix milliseconds. */
      receivedAt: number;
      /** When it was processed. Unix milliseconds. */
      processedAt: number | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Replay webhook deliveries. Processes the oldest 10,000 deliveries that match again. Effects of earlier processing are not repeated. The response comes before the work: retrieve the replay for its progress. */
  replayWebhookDeliveries(input: {
    /** Only deliveries of this provider. */
    provider?: string;
    /** Only deliveries with this status. */
    status: 'processed' | 'ignored' | 'failed';
    /** Only those received from this time on. Unix milliseconds. */
    since?: number;
    /** Only those received before this time. Unix milliseconds. */
    until?: number;
  }, options?: CallOptions): Promise<{
    /** Id of the replay. */
    id: string;
    /** Number of its deliveries. A delivery belongs to its last replay. */
    deliveries: number;
    /** Deliveries that have not been processed yet. */
    waiting: number;
    /** Deliveries that were processed or ignored. */
    processed: number;
    /** Deliveries that failed again. */
    failed: number;
  }>;
  /** Retrieve a webhook delivery. */
  getWebhookDelivery(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the delivery. */
    id: string;
    /** The provider's id, or one derived from its bytes. */
    deliveryId: string;
    /** Name of the provider. */
    provider: string;
    /** The path that it was sent to. */
    path: string;
    /** The provider's type of the event. */
    eventType: string | null;
    /** Whether its signature was checked. */
    signed: boolean;
    /** `received`: it waits for processing. `rejected`: refused, and not replayed. */
    status: 
      | 'received'
      | 'processed'
      | 'ignored'
      | 'failed'
      | 'unattributed'
      | 'rejected'
      | 'held';
    /** Attempts to process it since it was received or last replayed. */
    attempts: number;
    /** Why it failed or was ignored. */
    reason: string | null;
    /** When it was received. Unix milliseconds. */
    receivedAt: number;
    /** When it was processed. Unix milliseconds. */
    processedAt: number | null;
    /** The stored headers; never a signature. */
    headers: { [key: string]: string };
    /** The body with secrets masked: JSON, or the text of a body that is not JSON. */
    body: Json;
  }>;
  /** Replay a webhook delivery. Processes the delivery again. Effects of earlier processing are not repeated. */
  replayWebhookDelivery(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the delivery. */
    id: string;
    /** The provider's id, or one derived from its bytes. */
    deliveryId: string;
    /** Name of the provider. */
    provider: string;
    /** The path that it was sent to. */
    path: string;
    /** The provider's type of the event. */
    eventType: string | null;
    /** Whether its signature was checked. */
    signed: boolean;
    /** `received`: it waits for processing. `rejected`: refused, and not replayed. */
    status: 
      | 'received'
      | 'processed'
      | 'ignored'
      | 'failed'
      | 'unattributed'
      | 'rejected'
      | 'held';
    /** Attempts to process it since it was received or last replayed. */
    attempts: number;
    /** Why it failed or was ignored. */
    reason: string | null;
    /** When it was received. Unix milliseconds. */
    receivedAt: number;
    /** When it was processed. Unix milliseconds. */
    processedAt: number | null;
  }>;
  /** Retrieve the progress of a replay. */
  getWebhookReplay(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the replay. */
    id: string;
    /** Number of its deliveries. A delivery belongs to its last replay. */
    deliveries: number;
    /** Deliveries that have not been processed yet. */
    waiting: number;
    /** Deliveries that were processed or ignored. */
    processed: number;
    /** Deliveries that failed again. */
    failed: number;
  }>;
  /** List triggers. The triggers of the environment, ordered by slug. */
  listTriggers(input?: {
    /** The maximum number of items to return. Values above 1000 count as 1000. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Slug of the trigger. */
      slug: string;
      /** The name for people. */
      name: string;
      /** Whether changes and ticks start runs. */
      enabled: boolean;
      /** What starts a run, as pushed: a change of an entity type, or a schedule. */
      on: JsonObject;
      /** The definition, as it was pushed: `on` with its condition, `actions`, `schedule` and `retry`. */
      definition: JsonObject;
      /** The next tick of a schedule. Null for other triggers and disabled ones. Unix milliseconds. */
      nextTickAt: number | null;
      /** Number of runs by status: unfinished ones, and those created in the last 24 hours. */
      runs: { [key: string]: number };
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Enable a trigger. Ends a disabling by this API. A trigger that was pushed with `enabled: false` is enabled by a push. Schedules continue with their next tick. */
  enableTrigger(input: {
    /** Slug of the trigger. */
    slug: string;
  }, options?: CallOptions): Promise<{
    /** Slug of the trigger. */
    slug: string;
    /** Whether changes and ticks start runs. */
    enabled: boolean;
  }>;
  /** Disable a trigger. No change and no tick starts a run, and scheduled runs are cancelled when they are due. Until it is enabled, or a push changes the trigger. */
  disableTrigger(input: {
    /** Slug of the trigger. */
    slug: string;
  }, options?: CallOptions): Promise<{
    /** Slug of the trigger. */
    slug: string;
    /** Whether changes and ticks start runs. */
    enabled: boolean;
  }>;
  /** List trigger runs. */
  listTriggerRuns(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only runs of this trigger. */
    trigger?: string;
    /** Only runs with this status. */
    status?: 'scheduled' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'held';
    /** Only runs that a change of this entity caused. */
    entityId?: string;
    /** Only runs planned from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the run. */
      id: string;
      /** Slug of the trigger. */
      triggerSlug: string;
      /** `event-…`, `tick-…` or `manual-…`; `refused-…` for the record of refused runs. */
      cause: string;
      /** Who fired the trigger by hand. Null for other runs. */
      author: {
        /** A signed-in person or an API key. */
        type: 'person' | 'api_key';
        /** Id of the person or key. */
        id: string;
      } | null;
      /** The entity whose change caused the run. */
      entityId: string | null;
      /** `dead`: all attempts failed. `held`: open in a restored backup. */
      status: 'scheduled' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'held';
      /** Attempts so far. */
      attempts: number;
      /** Attempts after which the run is dead. */
      maxAttempts: number;
      /** Triggers between the first change of the chain and this run. */
      hops: number;
      /** What began the chain of triggers: id of an event or of a run. */
      root: string;
      /** Above 0: a record of so many refused runs, and not a run. */
      refusedRuns: number;
      /** Why the last attempt failed. */
      error: string | null;
      /** When the run is or was due. Unix milliseconds. */
      runAt: number;
      /** When it was planned. Unix milliseconds. */
      createdAt: number;
      /** When its last attempt began. Unix milliseconds. */
      startedAt: number | null;
      /** When it ended. Unix milliseconds. */
      finishedAt: number | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Retry the dead runs of a trigger. Gives each of the oldest 1,000 dead runs one more attempt. Completed steps are not repeated. */
  retryTriggerRuns(input: {
    /** Slug of the trigger. */
    trigger: string;
  }, options?: CallOptions): Promise<{
    /** Ids of the runs that were changed. */
    runs: string[];
  }>;
  /** Cancel the scheduled runs of a trigger. Cancels the oldest 1,000 scheduled runs. */
  cancelTriggerRuns(input: {
    /** Slug of the trigger. */
    trigger: string;
  }, options?: CallOptions): Promise<{
    /** Ids of the runs that were changed. */
    runs: string[];
  }>;
  /** Retrieve a trigger run. */
  getTriggerRun(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the run. */
    id: string;
    /** Slug of the trigger. */
    triggerSlug: string;
    /** `event-…`, `tick-…` or `manual-…`; `refused-…` for the record of refused runs. */
    cause: string;
    /** Who fired the trigger by hand. Null for other runs. */
    author: {
      /** A signed-in person or an API key. */
      type: 'person' | 'api_key';
      /** Id of the person or key. */
      id: string;
    } | null;
    /** The entity whose change caused the run. */
    entityId: string | null;
    /** `dead`: all attempts failed. `held`: open in a restored backup. */
    status: 'scheduled' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'held';
    /** Attempts so far. */
    attempts: number;
    /** Attempts after which the run is dead. */
    maxAttempts: number;
    /** Triggers between the first change of the chain and this run. */
    hops: number;
    /** What began the chain of triggers: id of an event or of a run. */
    root: string;
    /** Above 0: a record of so many refused runs, and not a run. */
    refusedRuns: number;
    /** Why the last attempt failed. */
    error: string | null;
    /** When the run is or was due. Unix milliseconds. */
    runAt: number;
    /** When it was planned. Unix milliseconds. */
    createdAt: number;
    /** When its last attempt began. Unix milliseconds. */
    startedAt: number | null;
    /** When it ended. Unix milliseconds. */
    finishedAt: number | null;
    /** Id of the request that caused it, as in logs. */
    requestId: string | null;
    /** The values that the templates of its actions use. */
    context: JsonObject;
    /** The calls of all attempts, in order. */
    steps: Array<{
      /** Name of the tool. */
      tool: string;
      /** Name of the result for later actions. */
      as?: string;
      /** Whether the call succeeded. */
      status: 'success' | 'error';
      /** The attempt of the run, from 1. */
      attempt: number;
      /** When the call began. Unix milliseconds. */
      startedAt: number;
      /** Duration of the call, in milliseconds. */
      durationMs: number;
      /** Its arguments, with the values of templates. */
      args?: Json;
      /** Its result. */
      result?: Json;
      /** Kind of the error. */
      errorType?: string;
      /** Why it failed. */
      error?: string;
    }>;
  }>;
  /** Retry a trigger run. Gives a dead or cancelled run one more attempt, at once. Completed steps are not repeated. */
  retryTriggerRun(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the run. */
    id: string;
    /** Slug of the trigger. */
    triggerSlug: string;
    /** `event-…`, `tick-…` or `manual-…`; `refused-…` for the record of refused runs. */
    cause: string;
    /** Who fired the trigger by hand. Null for other runs. */
    author: {
      /** A signed-in person or an API key. */
      type: 'person' | 'api_key';
      /** Id of the person or key. */
      id: string;
    } | null;
    /** The entity whose change caused the run. */
    entityId: string | null;
    /** `dead`: all attempts failed. `held`: open in a restored backup. */
    status: 'scheduled' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'held';
    /** Attempts so far. */
    attempts: number;
    /** Attempts after which the run is dead. */
    maxAttempts: number;
    /** Triggers between the first change of the chain and this run. */
    hops: number;
    /** What began the chain of triggers: id of an event or of a run. */
    root: string;
    /** Above 0: a record of so many refused runs, and not a run. */
    refusedRuns: number;
    /** Why the last attempt failed. */
    error: string | null;
    /** When the run is or was due. Unix milliseconds. */
    runAt: number;
    /** When it was planned. Unix milliseconds. */
    createdAt: number;
    /** When its last attempt began. Unix milliseconds. */
    startedAt: number | null;
    /** When it ended. Unix milliseconds. */
    finishedAt: number | null;
  }>;
  /** Cancel a trigger run. Cancels a scheduled run. A running one stops before its next step. */
  cancelTriggerRun(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the run. */
    id: string;
    /** Slug of the trigger. */
    triggerSlug: string;
    /** `event-…`, `tick-…` or `manual-…`; `refused-…` for the record of refused runs. */
    cause: string;
    /** Who fired the trigger by hand. Null for other runs. */
    author: {
      /** A signed-in person or an API key. */
      type: 'person' | 'api_key';
      /** Id of the person or key. */
      id: string;
    } | null;
    /** The entity whose change caused the run. */
    entityId: string | null;
    /** `dead`: all attempts failed. `held`: open in a restored backup. */
    status: 'scheduled' | 'running' | 'succeeded' | 'dead' | 'cancelled' | 'held';
    /** Attempts so far. */
    attempts: number;
    /** Attempts after which the run is dead. */
    maxAttempts: number;
    /** Triggers between the first change of the chain and this run. */
    hops: number;
    /** What began the chain of triggers: id of an event or of a run. */
    root: string;
    /** Above 0: a record of so many refused runs, and not a run. */
    refusedRuns: number;
    /** Why the last attempt failed. */
    error: string | null;
    /** When the run is or was due. Unix milliseconds. */
    runAt: number;
    /** When it was planned. Unix milliseconds. */
    createdAt: number;
    /** When its last attempt began. Unix milliseconds. */
    startedAt: number | null;
    /** When it ended. Unix milliseconds. */
    finishedAt: number | null;
  }>;
  /** List payments. */
  listPayments(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only payments with this status. */
    status?: 'draft' | 'pending' | 'paid' | 'failed';
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Entity[];
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Retrieve a payment. */
  getPayment(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The payment entity. */
    payment: Entity;
    /** Orders requested from the provider. Null for an imported payment. */
    attempts: number | null;
    /** Ids of the entities that are paid for. */
    paidFor: string[];
    /** What happened, oldest first. */
    events: Array<{
      /** Type of the event, such as `payment.paid`. */
      type: string;
      /** When it happened. Unix milliseconds. */
      at: number;
      /** Who caused it. */
      actor: {
        /** Type of the actor. */
        type: string;
      };
      /** What differs, for a mismatch. */
      problem: string | null;
    }>;
  }>;
  /** Ask the provider for the status of a payment. Requests the status from the provider and applies it. A payment leaves `pending` once. */
  reconcilePayment(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The payment after the answer of the provider was applied. */
    payment: Entity;
    /** Null while the provider has no order of the payment. */
    provider: {
      /** The provider's status. */
      status: number;
      /** Its meaning. */
      message: string;
    } | null;
  }>;
  /** Reconcile pending payments. Requests the status of the pending payments of the environment, oldest first, at most 100 and for at most 20 seconds, as the worker does every 5 minutes. */
  reconcilePayments(input?: {
    /** Minimum age of the pending payments, in minutes. */
    olderThanMinutes?: number;
  }, options?: CallOptions): Promise<{
    /** Payments whose status was requested. */
    asked: number;
    /** Payments that are now `paid`. */
    paid: number;
    /** Payments that are now `failed`. */
    failed: number;
    /** Payments that are as they were. */
    unchanged: number;
    /** Payments whose order differs. They stay `pending`. */
    mismatched: number;
    /** Payments whose status could not be read. */
    errors: number;
    /** False: there may be more. The next request, or the worker, continues after them. */
    isComplete: boolean;
    /** Why the run ended early. */
    problems: string[];
  }>;
  /** Retrieve the balance of credits. The balance of the organization, for both environments. */
  getCredits(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** The sum of all entries, in cents. */
    balanceCents: number;
  }>;
  /** List the entries of credits. */
  listCreditEntries(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the entry. */
      id: string;
      /** Cents; negative for a refund. */
      amountCents: number;
      /** Why, for people. */
      reason: string;
      /** The order that caused it. Each cause has one entry. */
      cause: string;
      /** When it was added. Unix milliseconds. */
      createdAt: number;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** List API keys. Lists the keys of the environment, also revoked and expired ones. Keys themselves are never shown again. */
  listApiKeys(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the key. */
      id: string;
      /** The name for people. */
      name: string;
      /** The beginning of the key, by which people recognize it. */
      prefix: string;
      /** What the key opens. */
      permissions: Array<'*' | 'chat' | 'data' | 'sync' | 'manage'>;
      /** Slug of the role that limits the key. */
      role: string | null;
      /** When it was created. Unix milliseconds. */
      createdAt: number;
      /** When it was last used, to the minute. Unix milliseconds. */
      lastUsedAt: number | null;
      /** When it expires. Null: never. Unix milliseconds. */
      expiresAt: number | null;
      /** When it was revoked. Unix milliseconds. */
      revokedAt: number | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Create an API key. Creates a key of the environment. Store it: only its hash is kept. */
  createApiKey(input: {
    /** The name for people. */
    name: string;
    /** `chat`, `data`, `sync`, `manage`, or `*` for all but `manage`. */
    permissions: Array<'*' | 'chat' | 'data' | 'sync' | 'manage'>;
    /** Slug of a role that limits the key. Not with `manage`. */
    role?: string;
    /** When it expires. Unix milliseconds. */
    expiresAt?: number;
  }, options?: CallOptions): Promise<{
    /** Id of the key. */
    id: string;
    /** The name for people. */
    name: string;
    /** The beginning of the key, by which people recognize it. */
    prefix: string;
    /** What the key opens. */
    permissions: Array<'*' | 'chat' | 'data' | 'sync' | 'manage'>;
    /** Slug of the role that limits the key. */
    role: string | null;
    /** When it was created. Unix milliseconds. */
    createdAt: number;
    /** When it was last used, to the minute. Unix milliseconds. */
    lastUsedAt: number | null;
    /** When it expires. Null: never. Unix milliseconds. */
    expiresAt: number | null;
    /** When it was revoked. Unix milliseconds. */
    revokedAt: number | null;
    /** The key. It is shown once. */
    key: string;
  }>;
  /** Rotate an API key. Creates a key with the same name and rights. The old one expires after the overlap. */
  rotateApiKey(input: {
    /** Id of the resource. */
    id: string;
  } & {
    /** How long the old key still works, in seconds. */
    overlapSeconds?: number;
  }, options?: CallOptions): Promise<{
    /** Id of the key. */
    id: string;
    /** The name for people. */
    name: string;
    /** The beginning of the key, by which people recognize it. */
    prefix: string;
    /** What the key opens. */
    permissions: Array<'*' | 'chat' | 'data' | 'sync' | 'manage'>;
    /** Slug of the role that limits the key. */
    role: string | null;
    /** When it was created. Unix milliseconds. */
    createdAt: number;
    /** When it was last used, to the minute. Unix milliseconds. */
    lastUsedAt: number | null;
    /** When it expires. Null: never. Unix milliseconds. */
    expiresAt: number | null;
    /** When it was revoked. Unix milliseconds. */
    revokedAt: number | null;
    /** The key. It is shown once. */
    key: string;
  }>;
  /** Revoke an API key. Every process refuses the key within one second. Revoking it again changes nothing. */
  revokeApiKey(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The key is revoked. */
    success: true;
  }>;
  /** List publishable keys. Lists the publishable keys of the environment, also revoked ones. */
  listPublishableKeys(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the key. */
      id: string;
      /** The name for people. */
      name: string;
      /** The key. It is no secret: a web page may show it. */
      key: string;
      /** The agent that answers. Null for a router. */
      agentSlug: string | null;
      /** The router that chooses who answers. Null for an agent. */
      routerSlug: string | null;
      /** The origins whose pages may use the key. */
      origins: string[];
      /** Limits of requests. */
      limits: {
        /** Requests in a minute of one visitor. */
        perVisitor: number;
        /** Requests in a minute of one network address. */
        perAddress: number;
        /** Requests in a minute of all visitors. */
        perKey: number;
      };
      /** When it was created. Unix milliseconds. */
      createdAt: number;
      /** When it was revoked. Unix milliseconds. */
      revokedAt: number | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Create a publishable key. Creates a key that a web page may show. It opens one agent or router to visitors on the listed origins, and nothing else. The identity secret is shown once. */
  createPublishableKey(input: {
    /** The name for people. */
    name: string;
    /** Slug of the agent that answers. */
    agentSlug?: string;
    /** Slug of the router that chooses who answers, instead of `agentSlug`. */
    routerSlug?: string;
    /** Origins such as `https://example.com`, or `*.example.com` for the names below a domain over HTTPS. */
    origins: string[];
    /** Limits of requests. */
    limits?: {
      /** Requests in a minute of one visitor. */
      perVisitor?: number;
      /** Requests in a minute of one network address. */
      perAddress?: number;
      /** Requests in a minute of all visitors. */
      perKey?: number;
    };
  }, options?: CallOptions): Promise<{
    /** Id of the key. */
    id: string;
    /** The name for people. */
    name: string;
    /** The key. It is no secret: a web page may show it. */
    key: string;
    /** The agent that answers. Null for a router. */
    agentSlug: string | null;
    /** The router that chooses who answers. Null for an agent. */
    routerSlug: string | null;
    /** The origins whose pages may use the key. */
    origins: string[];
    /** Limits of requests. */
    limits: {
      /** Requests in a minute of one visitor. */
      perVisitor: number;
      /** Requests in a minute of one network address. */
      perAddress: number;
      /** Requests in a minute of all visitors. */
      perKey: number;
    };
    /** When it was created. Unix milliseconds. */
    createdAt: number;
    /** When it was revoked. Unix milliseconds. */
    revokedAt: number | null;
    /** Your server signs the identities of visitors with it (HS256). It is shown once: keep it secret. */
    identitySecret: string;
  }>;
  /** Revoke a publishable key. Every process refuses the key and its sessions within one second. Revoking it again changes nothing. */
  revokePublishableKey(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The key is revoked. */
    success: true;
  }>;
  /** List integrations. Lists the accounts at providers. Secrets are masked. */
  listIntegrations(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** The configured providers and those that every environment can configure, ordered by name. */
    data: Array<{
      /**
       * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server
       * with OpenAI's protocol.
       */
      provider: string;
      /** What it is for. */
      kind: 'payments' | 'messages' | 'emails' | 'models' | 'mcp';
      /** Whether it has settings. */
      isConfigured: boolean;
      /** A provider that is switched off keeps its settings and counts as not configured. */
      enabled: boolean;
      /** False: no key of the installation decrypts its secrets. Set them again. */
      isReadable: boolean;
      /** The fields of the provider. */
      fields: Array<{
        /** Name of the field in `settings`. */
        name: string;
        /** Whether the provider requires it. */
        isRequired: boolean;
        /** Whether it is encrypted and only shown masked. */
        isSecret: boolean;
        /** What it is. */
        description: string;
        /** The value; of a secret at most the last four characters (`••••1234`). Null: not set. */
        value: string | { [key: string]: string } | null;
      }>;
      /** When it was last changed. Null: never. Unix milliseconds. */
      updatedAt: number | null;
    }>;
  }>;
  /** Retrieve an integration. */
  getIntegration(input: {
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
  }, options?: CallOptions): Promise<{
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
    /** What it is for. */
    kind: 'payments' | 'messages' | 'emails' | 'models' | 'mcp';
    /** Whether it has settings. */
    isConfigured: boolean;
    /** A provider that is switched off keeps its settings and counts as not configured. */
    enabled: boolean;
    /** False: no key of the installation decrypts its secrets. Set them again. */
    isReadable: boolean;
    /** The fields of the provider. */
    fields: Array<{
      /** Name of the field in `settings`. */
      name: string;
      /** Whether the provider requires it. */
      isRequired: boolean;
      /** Whether it is encrypted and only shown masked. */
      isSecret: boolean;
      /** What it is. */
      description: string;
      /** The value; of a secret at most the last four characters (`••••1234`). Null: not set. */
      value: string | { [key: string]: string } | null;
    }>;
    /** When it was last changed. Null: never. Unix milliseconds. */
    updatedAt: number | null;
  }>;
  /** Create an integration. Configures a provider. The settings are checked as a whole and their secrets encrypted. Processes use them within 5 seconds. */
  createIntegration(input: {
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
    /** The fields of the provider. */
    settings: {
      /** API key of the account at the provider. */
      apiKey?: string | null;
      /** Secret that signs requests. */
      secretKey?: string | null;
      /** Address of the API, unless it is the default. */
      apiUrl?: string | null;
      /** Address of the API of models. */
      baseUrl?: string | null;
      /** Address of the MCP server. */
      url?: string | null;
      /** Additional headers of each request, at most 20. */
      headers?: { [key: string]: string } | null;
      /** Address that the browser opens after a payment. Empty: the address of the gateway. */
      returnUrl?: '' | string | null;
      /** Currency of payments. Default: CLP. */
      defaultCurrency?: string | null;
      /** Default sender of e-mails. */
      from?: string | null;
      /** Reply to media without text. Empty: none is sent. */
      mediaReply?: string | null;
    };
  }, options?: CallOptions): Promise<{
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
    /** What it is for. */
    kind: 'payments' | 'messages' | 'emails' | 'models' | 'mcp';
    /** Whether it has settings. */
    isConfigured: boolean;
    /** A provider that is switched off keeps its settings and counts as not configured. */
    enabled: boolean;
    /** False: no key of the installation decrypts its secrets. Set them again. */
    isReadable: boolean;
    /** The fields of the provider. */
    fields: Array<{
      /** Name of the field in `settings`. */
      name: string;
      /** Whether the provider requires it. */
      isRequired: boolean;
      /** Whether it is encrypted and only shown masked. */
      isSecret: boolean;
      /** What it is. */
      description: string;
      /** The value; of a secret at most the last four characters (`••••1234`). Null: not set. */
      value: string | { [key: string]: string } | null;
    }>;
    /** When it was last changed. Null: never. Unix milliseconds. */
    updatedAt: number | null;
  }>;
  /** Change or switch an integration. Merges the given settings into the stored ones, or switches the provider on or off. A change of the host, port or protocol of an address needs the secrets that are stored in the same request, so that they are not sent to a server that they were not meant for. Concurrent changes of different fields are all kept. */
  updateIntegration(input: {
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
  } & {
    /** Fields to change. Null removes a field; fields that are absent stay. */
    settings?: {
      /** API key of the account at the provider. */
      apiKey?: string | null;
      /** Secret that signs requests. */
      secretKey?: string | null;
      /** Address of the API, unless it is the default. */
      apiUrl?: string | null;
      /** Address of the API of models. */
      baseUrl?: string | null;
      /** Address of the MCP server. */
      url?: string | null;
      /** Additional headers of each request, at most 20. */
      headers?: { [key: string]: string } | null;
      /** Address that the browser opens after a payment. Empty: the address of the gateway. */
      returnUrl?: '' | string | null;
      /** Currency of payments. Default: CLP. */
      defaultCurrency?: string | null;
      /** Default sender of e-mails. */
      from?: string | null;
      /** Reply to media without text. Empty: none is sent. */
      mediaReply?: string | null;
    };
    /** A provider that is switched off keeps its settings and counts as not configured. */
    enabled?: boolean;
  }, options?: CallOptions): Promise<{
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
    /** What it is for. */
    kind: 'payments' | 'messages' | 'emails' | 'models' | 'mcp';
    /** Whether it has settings. */
    isConfigured: boolean;
    /** A provider that is switched off keeps its settings and counts as not configured. */
    enabled: boolean;
    /** False: no key of the installation decrypts its secrets. Set them again. */
    isReadable: boolean;
    /** The fields of the provider. */
    fields: Array<{
      /** Name of the field in `settings`. */
      name: string;
      /** Whether the provider requires it. */
      isRequired: boolean;
      /** Whether it is encrypted and only shown masked. */
      isSecret: boolean;
      /** What it is. */
      description: string;
      /** The value; of a secret at most the last four characters (`••••1234`). Null: not set. */
      value: string | { [key: string]: string } | null;
    }>;
    /** When it was last changed. Null: never. Unix milliseconds. */
    updatedAt: number | null;
  }>;
  /** Test an integration. Sends a request that changes nothing to the provider, within 15 seconds. An address from the settings must be public, unless the operator allows it (`PROVIDER_ALLOWED_PRIVATE_HOSTS`, `MCP_ALLOWED_PRIVATE_HOSTS`). */
  testIntegration(input: {
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
  }, options?: CallOptions): Promise<{
    /** Whether the provider accepts the settings. */
    ok: boolean;
    /** What the provider answered, or why the test failed. */
    reason: string;
    /** How long the test took, in milliseconds. */
    durationMs: number;
  }>;
  /** Remove an integration. Deletes the settings and secrets. Pending payments of `flow` can then not be reconciled. */
  removeIntegration(input: {
    /**
     * `flow`, `kapso`, `resend`, `openai`, `anthropic`, `google`, `ollama`, `mcp.<server>`, or a name for a server with
     * OpenAI's protocol.
     */
    provider: string;
  }, options?: CallOptions): Promise<{
    /** The integration is removed. */
    success: true;
  }>;
  /** List events. Changes of entities, payments and events of tools, newest first. A page with large payloads has fewer events. */
  listEvents(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only events of this type; `order.*` for all with a prefix. */
    type?: string;
    /** Only events about entities of this type. */
    entityType?: string;
    /** Only events about this entity. */
    entityId?: string;
    /** Only events from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the event, derived from its time. */
      id: string;
      /** What happened, such as `entity.updated`. */
      type: string;
      /** Slug of the entity type that the event is about. */
      entityType: string | null;
      /** Id of the entity that the event is about. */
      entityId: string | null;
      /** Details: for a change of an entity `data` and `previousData`. */
      payload: JsonObject;
      /** Who caused it: `{ type, … }`. */
      actor: JsonObject;
      /** Triggers between the first change of the chain and this event. */
      hops: number;
      /** What began the chain of triggers. Null: this event. */
      root: string | null;
      /** Id of the request, as in logs. */
      requestId: string | null;
      /** When it was recorded. Unix milliseconds. */
      createdAt: number;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Retrieve the next events. For programs that process every event once: a response contains no event before which another one can still be committed. */
  followEvents(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the response before. Without it the response has the current position and no events. */
    after?: string;
    /** Only events of this type; `order.*` for all with a prefix. */
    type?: string;
    /** Only events about entities of this type. */
    entityType?: string;
    /** Only events about this entity. */
    entityId?: string;
  }, options?: CallOptions): Promise<{
    /** The next events, each once, in the order of their transactions. */
    data: Array<{
      /** Id of the event, derived from its time. */
      id: string;
      /** What happened, such as `entity.updated`. */
      type: string;
      /** Slug of the entity type that the event is about. */
      entityType: string | null;
      /** Id of the entity that the event is about. */
      entityId: string | null;
      /** Details: for a change of an entity `data` and `previousData`. */
      payload: JsonObject;
      /** Who caused it: `{ type, … }`. */
      actor: JsonObject;
      /** Triggers between the first change of the chain and this event. */
      hops: number;
      /** What began the chain of triggers. Null: this event. */
      root: string | null;
      /** Id of the request, as in logs. */
      requestId: string | null;
      /** When it was recorded. Unix milliseconds. */
      createdAt: number;
    }>;
    /** Send it as `after` to get the next events. */
    cursor: string;
  }>;
  /** Stream events. The new events as server-sent events, each once, within a second. A client that connects again with `Last-Event-ID` gets the events in between. A payload of more than 128 KiB is left out, which `isTruncated: true` says: `GET /v1/events/next` with the `id` before it as `after` returns it. A comment is sent every 15 seconds; a stream ends about a second after its key, session or membership does, and after an hour. */
  streamEvents(input?: {
    /** The id of the last event that was received, for clients that cannot send `Last-Event-ID`. */
    after?: string;
    /** Only events of this type; `order.*` for all with a prefix. */
    type?: string;
    /** Only events about entities of this type. */
    entityType?: string;
    /** Only events about this entity. */
    entityId?: string;
  }, options?: CallOptions): Promise<Response>;
  /** Retrieve the organization. */
  getOrganization(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** Id of the organization. */
    id: string;
    /** The name in commands. It does not change. */
    slug: string;
    /** Its id at the identity provider. Null when it was created here. */
    externalId: string | null;
    /** The name for people, also in prompts. */
    name: string;
    /** IANA time zone of dates in prompts and of schedules, such as `America/Santiago`. */
    timezone: string;
    /** How conversations get from the agent to people and back. */
    conversations: {
      /** When people answer contacts that ask for one. Empty: always. */
      openingHours: Array<{
        /** The days, in the time zone of the organization. */
        days: Array<'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'>;
        /** When people begin to answer. */
        from: string;
        /** When they end; on the next day if it is not after `from`. */
        to: string;
      }>;
      /** What a contact gets who asks for a person outside of opening hours. Null: what the agent says. */
      closedMessage: string | null;
      /** After this time without a person the agent answers a waiting thread again. Null: never. */
      takeBackAfterMinutes: number | null;
      /** After this time without a person an e-mail about a waiting thread is sent. Null: none is sent. */
      notifyAfterMinutes: number | null;
      /** Who gets these e-mails. Empty: all members. */
      notifyEmails: string[];
      /** The time for which a reply from the phone's own app keeps the agent from answering. */
      phonePauseMinutes: number;
    };
  }>;
  /** Change the organization. Changes the name, the time zone or settings, for both environments. Schedules without a time zone of their own follow it. */
  changeOrganization(input?: {
    /** The name for people, also in prompts. */
    name?: string;
    /** IANA time zone of dates in prompts and of schedules, such as `America/Santiago`. */
    timezone?: string;
    /** The settings of conversations to change. The others stay. */
    conversations?: {
      /** When people answer contacts that ask for one. Empty: always. */
      openingHours?: Array<{
        /** The days, in the time zone of the organization. */
        days: Array<'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'>;
        /** When people begin to answer. */
        from: string;
        /** When they end; on the next day if it is not after `from`. */
        to: string;
      }>;
      /** What a contact gets who asks for a person outside of opening hours. Null: what the agent says. */
      closedMessage?: string | null;
      /** After this time without a person the agent answers a waiting thread again. Null: never. */
      takeBackAfterMinutes?: number | null;
      /** After this time without a person an e-mail about a waiting thread is sent. Null: none is sent. */
      notifyAfterMinutes?: number | null;
      /** Who gets these e-mails. Empty: all members. */
      notifyEmails?: string[];
      /** The time for which a reply from the phone's own app keeps the agent from answering. */
      phonePauseMinutes?: number;
    };
  }, options?: CallOptions): Promise<{
    /** Id of the organization. */
    id: string;
    /** The name in commands. It does not change. */
    slug: string;
    /** Its id at the identity provider. Null when it was created here. */
    externalId: string | null;
    /** The name for people, also in prompts. */
    name: string;
    /** IANA time zone of dates in prompts and of schedules, such as `America/Santiago`. */
    timezone: string;
    /** How conversations get from the agent to people and back. */
    conversations: {
      /** When people answer contacts that ask for one. Empty: always. */
      openingHours: Array<{
        /** The days, in the time zone of the organization. */
        days: Array<'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'>;
        /** When people begin to answer. */
        from: string;
        /** When they end; on the next day if it is not after `from`. */
        to: string;
      }>;
      /** What a contact gets who asks for a person outside of opening hours. Null: what the agent says. */
      closedMessage: string | null;
      /** After this time without a person the agent answers a waiting thread again. Null: never. */
      takeBackAfterMinutes: number | null;
      /** After this time without a person an e-mail about a waiting thread is sent. Null: none is sent. */
      notifyAfterMinutes: number | null;
      /** Who gets these e-mails. Empty: all members. */
      notifyEmails: string[];
      /** The time for which a reply from the phone's own app keeps the agent from answering. */
      phonePauseMinutes: number;
    };
  }>;
  /** List the audit log. Returns what people, keys and commands changed, newest first: the entries of the environment, and those of the whole organization. Entries are never changed. */
  listAuditLog(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only entries with this action. */
    action?: string;
    /** Only entries of this API key or person. */
    actorId?: string;
    /** Only entries about this resource. */
    targetId?: string;
    /** Only entries from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the entry. Increases with time. */
      id: string;
      /** What was done, such as `api_key.created`. */
      action: string;
      /** Who did it. */
      actor: {
        /** `command`: a command with access to the database. */
        type: 'api_key' | 'person' | 'command' | 'webhook' | 'system';
        /** Id of the API key or of the person. */
        id: string | null;
        /** Name of the key, or e-mail address of the person, at that time. */
        name: string | null;
      };
      /** Network address of the client. */
      address: string | null;
      /** Null for changes of the whole organization. */
      environment: 'development' | 'production' | null;
      /** The resource that was changed. */
      target: {
        /** Type of the resource. */
        type: string;
        /** Id of the resource. */
        id: string;
      } | null;
      /** The changed fields before. Secrets are masked. */
      before: JsonObject | null;
      /** The changed fields after, or details of the action. Secrets are masked. */
      after: JsonObject | null;
      /** Id of the request, as in logs. */
      requestId: string | null;
      /** When it was done. Unix milliseconds. */
      createdAt: number;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** List agents. Returns the agents of the environment, newest first, without their prompts. Definitions change by `POST /v1/sync` only. */
  listAgents(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the agent, the same in both environments. */
      id: string;
      /** The name in paths and references, such as `shop-assistant`. Unique in an environment. */
      slug: string;
      /** The name for people. */
      name: string;
      /** What the agent does. The classification of a router reads it. */
      description?: string;
      /** The model, as `provider/name` or with its settings. Default: `PARLEY_DEFAULT_MODEL` of the installation. */
      model?: string | {
        /** `provider/name`, such as `anthropic/claude-sonnet-4-5`. */
        model: string;
        /** 0 to 2. Default: the provider's. */
        temperature?: number;
        /** Maximum number of tokens of a reply. Default: the provider's. */
        maxTokens?: number;
        /** How much the model reasons before it replies. Sent to models of `openai` only. */
        reasoning?: 'minimal' | 'low' | 'medium' | 'high';
        /** Models that are tried in this order when the one before fails. At most 5. */
        fallbacks?: string[];
      };
      /**
       * Tools that the agent may call: names, such as `entity.query`, all of a namespace with `entity.*`, or `*`.
       * Default: none.
       */
      tools?: string[];
      /** Slugs of the roles that limit its tool calls. Default: none, so that it may do everything. */
      roles?: string[];
      /** Number of pushes that changed the definition. */
      revision: number;
      /** When the definition was last changed. Unix milliseconds. */
      updatedAt: number;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Get an agent. Returns the definition of an agent, and what its roles allow, with the policies that decide. */
  getAgent(input: {
    /** Slug of the agent. */
    slug: string;
  }, options?: CallOptions): Promise<{
    /** Id of the agent, the same in both environments. */
    id: string;
    /** The name in paths and references, such as `shop-assistant`. Unique in an environment. */
    slug: string;
    /** Number of pushes that changed the definition. */
    revision: number;
    /** When the definition was last changed. Unix milliseconds. */
    updatedAt: number;
    /** The definition, as it was pushed. */
    definition: JsonObject;
    /**
     * What the agent may do by its roles, when no caller with a role limits it further. Without roles, everything that
     * its tools offer.
     */
    rights: {
      /** Rights on entities. Scope rules and field masks of the roles limit them further. */
      entityTypes: Array<{
        /** Slug of the entity type. */
        entityType: string;
        /** What the agent may do with entities of the type. */
        actions: Array<{
          /** Whether the operation is allowed. */
          allowed: boolean;
          /** Which list, role or policy decides. */
          reason: string;
          /** The policies that decide: one of each list of roles that limits the caller. Empty when none decides. */
          policies: Array<{
            /** Slug of the role. */
            role: string;
            /** Position in the role's `policies`, from 0. */
            policy: number;
          }>;
          /** The action. */
          action: 'create' | 'read' | 'update' | 'delete' | 'list' | 'execute' | 'reach';
        }>;
      }>;
      /** The tools in the list of the agent that exist, without those of MCP servers. */
      tools: Array<{
        /** Name of the tool. */
        name: string;
        /** Whether Parley defines the tool. */
        isBuiltin: boolean;
        /** The permission that a call needs: `execute` on the tool, or this action on the entity type of the call. */
        action: 'create' | 'read' | 'update' | 'delete' | 'list' | 'execute' | 'reach';
        /** Whether the roles allow the tool. Null when the entity type of the call decides. */
        permission: {
          /** Whether the operation is allowed. */
          allowed: boolean;
          /** Which list, role or policy decides. */
          reason: string;
          /** The policies that decide: one of each list of roles that limits the caller. Empty when none decides. */
          policies: Array<{
            /** Slug of the role. */
            role: string;
            /** Position in the role's `policies`, from 0. */
            policy: number;
          }>;
        } | null;
      }>;
    };
  }>;
  /** List routers. Returns the routers of the environment with their definitions, newest first. */
  listRouters(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Number of pushes that changed the definition. */
      revision: number;
      /** When the definition was last changed. Unix milliseconds. */
      updatedAt: number;
      /** The definition, as it was pushed. */
      definition: JsonObject;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** List tools. Returns the custom tools of the environment, newest first, then the built-in tools, with the schemas of their arguments. Tools of MCP servers are not listed. */
  listTools(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Name of the tool. */
      name: string;
      /** What the tool does and when to call it. Models read it. */
      description: string;
      /** JSON Schema of the arguments. */
      parameters: JsonObject;
      /** Whether Parley defines the tool. */
      isBuiltin: boolean;
      /** Whether the tool may change something. */
      sideEffects: boolean;
      /** The permission that a call needs: `execute` on the tool, or this action on the entity type of the call. */
      action: 'create' | 'read' | 'update' | 'delete' | 'list' | 'execute' | 'reach';
      /** The other fields of a custom tool, without its code; null for a built-in tool. */
      custom: {
        /**
         * Whether the tool can only be called from templates and triggers, and is not offered to models. Default:
         * `false`.
         */
        templateOnly?: boolean;
        /** Hosts that `fetch` may reach: `api.example.com`, `*.example.com`. Default: every public host. `[]`: none. */
        allowedHosts?: string[];
        /**
         * Names of the secrets that the handler reads as `context.secrets.NAME`. Their values are set with `parley
         * tool-secrets set`. Default: none.
         */
        secrets?: string[];
        /**
         * What the handler does with `parley` is done with the rights of this role, or of the system (`system`). The
         * caller still needs the permission for the tool. Default: the rights of the caller.
         */
        runAs?: string;
        /** Number of pushes that changed the definition. */
        revision: number;
        /** When the definition was last changed. Unix milliseconds. */
        updatedAt: number;
      } | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** List roles. Returns the roles of the environment with their policies, scope rules and field masks, newest first. */
  listRoles(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Number of pushes that changed the definition. */
      revision: number;
      /** When the definition was last changed. Unix milliseconds. */
      updatedAt: number;
      /** The definition, as it was pushed. */
      definition: JsonObject;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** List search indexes. Returns the search fields of each entity type, and how far its entities are indexed for them after a change. Ordered by entity type. */
  listSearchIndexes(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** One for each entity type. */
    data: Array<{
      /** Slug of the entity type. */
      entityType: string;
      /** The name for people. */
      name: string;
      /** Fields that a search reads, the most important first. */
      searchFields: string[];
      /** Null: all entities are indexed for these fields. */
      reindexing: {
        /** Number of entities that are indexed for these fields; 0: waiting for the worker. */
        done: number;
        /** Their share, from 0 to 1. */
        share: number;
      } | null;
    }>;
  }>;
  /** List executions. Returns the turns of agents in the environment, newest first. Filters can be combined. For the steps of one, get it by its id. */
  listExecutions(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
    /** Only executions of the agent with this slug. */
    agent?: string;
    /** Only executions of the thread with this id. */
    thread?: string;
    /**
     * Only executions with this status. `queued`: waits for earlier turns of the thread. `stalled`: its process no
     * longer renews its lease. `stored`: not answered, because a person had taken over. `cancelled`: ended by a
     * request.
     */
    status?: 
      | 'queued'
      | 'running'
      | 'stalled'
      | 'succeeded'
      | 'stored'
      | 'failed'
      | 'cancelled';
    /** With `true` only executions with a failed or denied tool call. */
    toolErrors?: boolean;
    /** Only executions from this time on. Unix milliseconds. */
    since?: number;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the execution. Increases with time. */
      id: string;
      /** Thread of the message. */
      threadId: string;
      /** Slug of the agent that answers. */
      agentSlug: string | null;
      /** Revision of the agent's definition. Null before the first stored step. */
      agentRevision: number | null;
      /** Slug of the router that chose the agent. */
      routerSlug: string | null;
      /**
       * `queued`: waits for earlier turns of the thread. `stalled`: its process no longer renews its lease. `stored`:
       * not answered, because a person had taken over. `cancelled`: ended by a request.
       */
      status: 
        | 'queued'
        | 'running'
        | 'stalled'
        | 'succeeded'
        | 'stored'
        | 'failed'
        | 'cancelled';
      /** The model that answered last. */
      model: string | null;
      /** Calls of the model that were answered. */
      modelCallCount: number;
      /** Tool calls that have ended. */
      toolCallCount: number;
      /** Tool calls that failed or were denied. */
      toolErrorCount: number;
      /** Tokens that the model has read. */
      inputTokens: number;
      /** Tokens that the model has written. */
      outputTokens: number;
      /** Tokens of reasoning, if the provider reports them. */
      reasoningTokens: number | null;
      /** Why the execution failed. */
      error: string | null;
      /** Id of the request, as in logs. On a channel the id of the message that is answered. */
      requestId: string | null;
      /** When the message arrived. Unix milliseconds. */
      createdAt: number;
      /** When the turn began, after earlier turns of the thread. Unix milliseconds. */
      startedAt: number | null;
      /** When the turn ended. Unix milliseconds. */
      finishedAt: number | null;
      /** Milliseconds from the beginning to the end of the turn. */
      durationMs: number | null;
      /** The first 200 characters of the message. */
      input: string;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Start an execution in the background. Stores a message, which an agent answers in the background, also when the client disconnects. The header `Location` has the address of the execution. With `Prefer: wait=20` the response is sent when the execution has ended, or after 20 seconds (at most 30). With `Accept: text/event-stream` the response is the stream of the execution. */
  startExecution(input: {
    /** The user's message. Not blank. */
    message: string;
    /** Continues the thread with this id. Takes precedence over `externalThreadId`. */
    threadId?: string;
    /**
     * Your own id for the thread, such as `web:42`. Continues the thread with this id, or creates it. Must not begin
     * with `whatsapp:`, `widget:`, `dashboard:`.
     */
    externalThreadId?: string;
    /** Context of the conversation. */
    threadContext?: {
      /**
       * Values for the prompt, such as `{{threadContext.params.plan}}`. They are stored on the thread. Their JSON has
       * at most 32 KiB.
       */
      params?: JsonObject;
    };
    /** The phone number of the contact, whose entity the router's rules read. Stored as the param `phoneNumber`. */
    phoneNumber?: string;
    /** Slug of the agent that answers. */
    agentSlug?: string;
    /** Id of the agent that answers. */
    agentId?: string;
    /** Slug of the router that chooses the agent. */
    routerSlug?: string;
    /** Channel of a new thread, and of the prompt. Another than `api` requires a person or the permission `manage`. */
    channel?: 'api' | 'dashboard';
    /**
     * Replaces the agent's model for this message, as `provider/name`. Requires a person or the permission `manage`.
     */
    model?: string;
  }, options?: CallOptions): Promise<{
    /** Id of the execution. */
    executionId: string;
    /** Thread of the message. */
    threadId: string;
    /**
     * `queued`: waits for earlier turns of the thread. `stalled`: its process no longer renews its lease. `stored`: not
     * answered, because a person had taken over. `cancelled`: ended by a request.
     */
    status: 
      | 'queued'
      | 'running'
      | 'stalled'
      | 'succeeded'
      | 'stored'
      | 'failed'
      | 'cancelled';
    /** The answer; null without one. */
    reply: string | null;
    /** Why the answer ended. Null until the execution has ended, and for one that a person ended. */
    finishReason: 
      | 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'error'
      | null;
    /** Tokens of the turn so far. */
    usage: {
      /** Tokens that the model has read, in all its calls. */
      inputTokens: number;
      /** Tokens that the model has written. */
      outputTokens: number;
      /** The total as the provider counts it. */
      totalTokens: number;
      /** Tokens of reasoning, which are part of `outputTokens`. Present when the provider reports them. */
      reasoningTokens?: number;
    };
  }>;
  /** Get an execution. Returns one turn of an agent: the prompt as it was sent, each model call and tool call with the rule that allowed or denied it, the answer, and whether it was delivered. Arguments and results above 256 KiB are shortened. A key without the permission `manage` gets only the executions that it has started, without their prompt, steps and messages. */
  getExecution(input: {
    /** Id of the resource. */
    id: string;
    /** Seconds to wait for the end of the execution. It is returned then, or earlier when it ends. */
    wait?: number;
  }, options?: CallOptions): Promise<{
    /** Id of the execution. Increases with time. */
    id: string;
    /** Thread of the message. */
    threadId: string;
    /** Slug of the agent that answers. */
    agentSlug: string | null;
    /** Revision of the agent's definition. Null before the first stored step. */
    agentRevision: number | null;
    /** Slug of the router that chose the agent. */
    routerSlug: string | null;
    /**
     * `queued`: waits for earlier turns of the thread. `stalled`: its process no longer renews its lease. `stored`: not
     * answered, because a person had taken over. `cancelled`: ended by a request.
     */
    status: 
      | 'queued'
      | 'running'
      | 'stalled'
      | 'succeeded'
      | 'stored'
      | 'failed'
      | 'cancelled';
    /** The model that answered last. */
    model: string | null;
    /** Calls of the model that were answered. */
    modelCallCount: number;
    /** Tool calls that have ended. */
    toolCallCount: number;
    /** Tool calls that failed or were denied. */
    toolErrorCount: number;
    /** Tokens that the model has read. */
    inputTokens: number;
    /** Tokens that the model has written. */
    outputTokens: number;
    /** Tokens of reasoning, if the provider reports them. */
    reasoningTokens: number | null;
    /** Why the execution failed. */
    error: string | null;
    /** Id of the request, as in logs. On a channel the id of the message that is answered. */
    requestId: string | null;
    /** When the message arrived. Unix milliseconds. */
    createdAt: number;
    /** When the turn began, after earlier turns of the thread. Unix milliseconds. */
    startedAt: number | null;
    /** When the turn ended. Unix milliseconds. */
    finishedAt: number | null;
    /** Milliseconds from the beginning to the end of the turn. */
    durationMs: number | null;
    /** The message, at most its first 1,048,576 characters. */
    input: string;
    /** `input` is only the beginning. `GET /v1/threads/:id/messages/:messageId` returns all of it. */
    isInputTruncated?: true;
    /** The answer; null without one. */
    reply: string | null;
    /** Why the answer ended. Null until the execution has ended, and for one that a person ended. */
    finishReason: 
      | 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'error'
      | null;
    /** Tokens of the turn so far. */
    usage: {
      /** Tokens that the model has read, in all its calls. */
      inputTokens: number;
      /** Tokens that the model has written. */
      outputTokens: number;
      /** The total as the provider counts it. */
      totalTokens: number;
      /** Tokens of reasoning, which are part of `outputTokens`. Present when the provider reports them. */
      reasoningTokens?: number;
    };
    /** The same as `reply`. */
    output: string | null;
    /** What was sent to the model. Null before the first stored step, and for executions before prompts were stored. */
    prompt: {
      /** The system prompt as it was sent, compiled. At most its first 256 KiB. */
      text: string;
      /** Size of the whole prompt in UTF-8. */
      bytes: number;
      /** Whether `text` is only the beginning. */
      isTruncated: boolean;
      /** Names of the tools that were offered to the model. */
      tools: string[];
    } | null;
    /** Model calls and tool calls, in their order. */
    steps: Array<{
      /** A call of the model. */
      type: 'model';
      /** The model, such as `openai/gpt-5-mini`. */
      model: string;
      /** `routing`: a router let the model choose the agent. */
      purpose: 'routing' | 'reply';
      /** Whether the model answered. */
      status: 'success' | 'error';
      /** Why the call failed. */
      error: string | null;
      /** Why the answer ended. Null for a call that failed. */
      finishReason: 
        | 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'error'
        | null;
      /** Duration in milliseconds, with retries. */
      durationMs: number;
      /** Tokens that the model has read. */
      inputTokens: number;
      /** Tokens that the model has written. */
      outputTokens: number;
      /** Tokens of reasoning, if the provider reports them. */
      reasoningTokens: number | null;
    } | {
      /** A call of a tool. */
      type: 'tool';
      /** Id of the call within the execution. */
      callId: string;
      /** Name of the tool. */
      name: string;
      /** The arguments, as the model gave them. */
      arguments: Json;
      /** The beginning of the arguments as JSON, instead of `arguments`, when they are too large to be shown. */
      argumentsStart: string | null;
      /** `unknown`: its process ended during the call, which may or may not have taken effect. */
      status: 'success' | 'error' | 'running' | 'unknown';
      /** What the tool returned; null for a call without a result. */
      result: Json;
      /** The beginning of the result as JSON, instead of `result`, when the result is too large to be shown. */
      resultStart: string | null;
      /** Kind of the failure, such as `permission_denied`. */
      errorType: string | null;
      /** What the model was shown instead of a result. */
      errorMessage: string | null;
      /** Which role and policy allowed or denied the call. Null while it runs, and for tools that do not exist. */
      permission: {
        /** Whether the operation is allowed. */
        allowed: boolean;
        /** Which list, role or policy decides. */
        reason: string;
        /** The policies that decide: one of each list of roles that limits the caller. Empty when none decides. */
        policies: Array<{
          /** Slug of the role. */
          role: string;
          /** Position in the role's `policies`, from 0. */
          policy: number;
        }>;
      } | null;
      /** What the handler of a custom tool wrote to its console. */
      logs: Array<{
        /** The method of `console`. */
        level: 'debug' | 'log' | 'info' | 'warn' | 'error';
        /** The text of the line. */
        message: string;
      }>;
      /** When the call was stored, before it began. Unix milliseconds. */
      startedAt: number;
      /** Duration in milliseconds; null while it runs. */
      durationMs: number | null;
    }>;
    /** The messages of the turn, in their order. */
    messages: Array<{
      /** Id of the message. */
      id: string;
      /** Who wrote it. */
      role: 'user' | 'assistant';
      /** The text, at most its first 65,536 characters. Empty for a message that only calls tools. */
      content: string;
      /** The text is only its beginning. `GET /v1/threads/:id/messages/:messageId` returns all of it. */
      isTruncated?: true;
      /** The calls that the message asks for. */
      toolCallIds: string[];
      /** When it was stored. Unix milliseconds. */
      createdAt: number;
    }>;
    /** The messages by which the answer was sent on a channel. Empty when the caller got it in its response. */
    deliveries: Array<{
      /** Id of the message of the channel, as in `GET /v1/messages`. */
      messageId: string;
      /** Such as `pending`, `sent`, `delivered`, `read`, `failed` or `unknown`. */
      status: string;
      /** Why it was not delivered. */
      error: string | null;
      /** When it was stored for sending. Unix milliseconds. */
      createdAt: number;
    }>;
  }>;
  /** Stream an execution. The answer while it is written, as server-sent events in the AI SDK's UI message stream: text, tool calls, and the end. A client that connects again with `Last-Event-ID` gets what follows. After a `reset-step`, what the current step has written is void: another model or process has begun it again. A key without the permission `manage` gets no arguments and results of tools. A comment is sent every 15 seconds. A client that disconnects does not cancel the execution. */
  streamExecution(input: {
    /** Id of the resource. */
    id: string;
    /** The number of the last chunk that was received, for clients that cannot send `Last-Event-ID`. */
    after?: number;
  }, options?: CallOptions): Promise<Response>;
  /** Stream the running execution of a thread. Streams the execution that the thread runs, or runs next. The response is 204 without a body when it runs none. A key without the permission `manage` gets only executions that it has started; a thread in which it has started none is 404, whether it exists or not. */
  streamThread(input: {
    /** Id of the thread, or its external id. */
    id: string;
    /** The id of the last chunk that was received, for clients that cannot send `Last-Event-ID`. */
    after?: string;
  }, options?: CallOptions): Promise<Response>;
  /** Cancel an execution. Ends an execution that was started in the background. A model call or tool call that is running is completed, and no other begins. The response has the state afterwards; an execution that has ended stays as it is. */
  cancelExecution(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Id of the execution. */
    executionId: string;
    /** Thread of the message. */
    threadId: string;
    /**
     * `queued`: waits for earlier turns of the thread. `stalled`: its process no longer renews its lease. `stored`: not
     * answered, because a person had taken over. `cancelled`: ended by a request.
     */
    status: 
      | 'queued'
      | 'running'
      | 'stalled'
      | 'succeeded'
      | 'stored'
      | 'failed'
      | 'cancelled';
    /** The answer; null without one. */
    reply: string | null;
    /** Why the answer ended. Null until the execution has ended, and for one that a person ended. */
    finishReason: 
      | 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'refusal' | 'error'
      | null;
    /** Tokens of the turn so far. */
    usage: {
      /** Tokens that the model has read, in all its calls. */
      inputTokens: number;
      /** Tokens that the model has written. */
      outputTokens: number;
      /** The total as the provider counts it. */
      totalTokens: number;
      /** Tokens of reasoning, which are part of `outputTokens`. Present when the provider reports them. */
      reasoningTokens?: number;
    };
  }>;
  /** Get statistics. Returns messages, executions, failures, latency, tokens and tool errors for each hour or day. The last hours are counted when they are requested. */
  getStatistics(input: {
    /** The beginning. It is moved to the beginning of its hour or day. Unix milliseconds. */
    from: number;
    /** The end, which is not included. Unix milliseconds. */
    to: number;
    /** At most 800 hours or 400 days may be requested. */
    interval: 'hour' | 'day';
    /** Where days begin, such as `America/Santiago`. */
    timezone?: string;
    /** Only executions of the agent with this slug. */
    agent?: string;
    /** Only executions of this channel, such as `whatsapp`. */
    channel?: string;
  }, options?: CallOptions): Promise<{
    /** The figures before this time are complete. Later ones may change. Unix milliseconds. */
    completeUntil: number | null;
    /** All hours or days of the range, oldest first. */
    data: Array<{
      /** The beginning of the hour or day. Unix milliseconds. */
      start: number;
      /** Messages of contacts and callers. */
      messages: number;
      /** Messages that an agent had to answer: not those of threads that a person had taken over. */
      executions: number;
      /** Executions that failed. */
      failures: number;
      /** Half of the answers took at most this long, in milliseconds, within 10 %. */
      p50Ms: number | null;
      /** 95 % of the answers took at most this long, in milliseconds, within 10 %. */
      p95Ms: number | null;
      /** Tokens that models have read. */
      inputTokens: number;
      /** Tokens that models have written. */
      outputTokens: number;
      /** Tool calls. */
      toolCalls: number;
      /** Tool calls that failed or were denied. */
      toolErrors: number;
    }>;
  }>;
  /** Get the health report. Returns what is dead, waiting or refused in the environment, since when, and how to retry it. */
  getHealthReport(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** When the report was made. Unix milliseconds. */
    checkedAt: number;
    /** Whether nothing needs attention. */
    isHealthy: boolean;
    /** What needs attention in the environment, the gravest first. */
    problems: Array<{
      /** What needs attention. */
      kind: 
        | 'dead_trigger_runs'
        | 'failed_webhook_deliveries'
        | 'unattributed_webhook_deliveries'
        | 'failed_messages'
        | 'unknown_messages'
        | 'failed_emails'
        | 'unknown_emails'
        | 'stalled_executions'
        | 'interrupted_payments'
        | 'unregistered_connections'
        | 'disabled_integrations'
        | 'unreadable_integrations'
        | 'held_work';
      /**
       * `dead`: nothing happens without a person. `waiting`: the service tries again. `refused`: a provider or setting
       * refuses it.
       */
      state: 'dead' | 'waiting' | 'refused';
      /** What happened, and what to do. */
      description: string;
      /** How many there are, at most 1,000 of each. */
      count: number;
      /** Whether there are more than `count`. */
      isCapped: boolean;
      /** Since when. Unix milliseconds. */
      oldestAt: number | null;
      /** The integrations concerned, by provider. Empty for other kinds. */
      names: string[];
      /**
       * The API operation that retries it or fixes the cause: method and path. Null when only an operator of the
       * installation can.
       */
      operation: string | null;
      /** The command that does the same. Null when nothing has to be done. */
      command: string | null;
    }>;
  }>;
  /** List the ways to sign in. */
  getSignInWays(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** People can sign in with e-mail address and password. */
    password: true;
    /** The OpenID provider at which people can sign in; null when none is configured. */
    oidc: {
      /** The provider's name, for the button. */
      name: string;
    } | null;
    /** Whether this server can send e-mails to people, of any organization. Otherwise an operator prints the links. */
    passwordResetByEmail: boolean;
  }>;
  /** Begin to sign in at the OpenID provider. Sets a cookie for 10 minutes and returns the address to which the page sends the browser. With `invitation` the person becomes a member by it. */
  beginOidcSignIn(input?: {
    /** The last part of the link of an invitation that is accepted by it. */
    invitation?: string;
    /** Path to which the browser returns in the end. */
    returnTo?: string;
  }, options?: CallOptions): Promise<{
    /** Address at the provider, to which the page sends the browser. */
    url: string;
  }>;
  /** Finish to sign in at the OpenID provider. The provider sends the browser here. Begins a session, sets its cookie and sends the browser to `returnTo`. When an unknown identity came with an invitation and a session, nothing is changed yet: the browser is sent to the page of the console that asks the person who is signed in. When the sign-in failed, it is sent there with `error`: `sign_in_cancelled`, `sign_in_failed`, `no_organization`, `invitation_not_found`, `invitation_ended` or `identity_taken`. */
  finishOidcSignIn(input?: {
    /** The value that the sign-in began with. */
    state?: string;
    /** What the provider exchanges for the identity. */
    code?: string;
    /** The provider. */
    iss?: string;
    /** Why the provider refused. */
    error?: string;
  }, options?: CallOptions): Promise<null>;
  /** Show the identity that waits for a confirmation. An unknown identity that signed in by an invitation, in a browser with a session, waits for 10 minutes until the person who is signed in confirms it. */
  getIdentityConfirmation(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** What the confirmation names, so that the identity that was shown is the one that is added. */
    id: string;
    /** Who is signed in. The identity would be added to this account. */
    person: {
      /** Id of the person. */
      id: string;
      /** E-mail address. */
      email: string | null;
      /** Whether the address is proved in all organizations of the person. */
      isEmailProved: boolean;
      /** Name of the person. */
      name: string | null;
      /** Whether the person can sign in with a password. */
      hasPassword: boolean;
    };
    /** Who signed in at the provider. The owner of this identity could sign in to the account. */
    identity: {
      /** The provider's name for people. */
      provider: string;
      /** The address of the provider. */
      issuer: string;
      /** E-mail address, as the provider says. At most 100 characters. */
      email: string | null;
      /** Name, as the provider says. At most 100 characters. */
      name: string | null;
    };
    /** The organization of the invitation, which the person would join. */
    organization: {
      /** The name in commands. */
      slug: string;
      /** The name for people. */
      name: string;
    };
    /** What the person may do in the organization. */
    role: 'admin' | 'member';
  }>;
  /** Add the identity to the account. The person who is signed in can sign in with the identity from now on, and joins the organization of the invitation. The link is used up. */
  confirmIdentity(input: {
    /** The `id` of what was shown. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** Path to which the page sends the browser: the one that the sign-in began with. */
    returnTo: string;
  }>;
  /** Decline to add the identity. Removes the cookie with the identity. The invitation can still be accepted. */
  declineIdentity(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** Nothing waits for a confirmation any more. */
    success: true;
  }>;
  /** Sign in with a password. Begins a session and sets its cookie. The answer and its time are the same for a wrong password and an unknown person. */
  signIn(input: {
    /** E-mail address of the person. */
    email: string;
    /** Password of the person. */
    password: string;
    /**
     * The session does not end by not being used, and lasts 30 days. Otherwise it ends after 7 days without a request.
     */
    keepSignedIn?: boolean;
  }, options?: CallOptions): Promise<{
    /** Id of the session. */
    id: string;
    /** When it ends at the latest. Unix milliseconds. */
    expiresAt: number;
    /** Who signed in. */
    person: {
      /** Id of the person. */
      id: string;
      /** E-mail address. */
      email: string | null;
      /** Whether the address is proved in all organizations of the person. */
      isEmailProved: boolean;
      /** Name of the person. */
      name: string | null;
      /** Whether the person can sign in with a password. */
      hasPassword: boolean;
    };
  }>;
  /** Sign out. Ends this session on every process and removes its cookie. */
  signOut(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** The session has ended. */
    success: true;
  }>;
  /** End a session. Ends another session of the same person. */
  endSession(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The session has ended. */
    success: true;
  }>;
  /** List own sessions. */
  listSessions(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** The valid sessions, newest first, at most 100. */
    data: Array<{
      /** Id of the session. */
      id: string;
      /** Whether it is the session of this request. */
      isCurrent: boolean;
      /** Network address at the sign-in. */
      address: string | null;
      /** The browser at the sign-in. */
      userAgent: string | null;
      /** When it began. Unix milliseconds. */
      createdAt: number;
      /** When it was last used, to five minutes. Unix milliseconds. */
      lastSeenAt: number;
      /** When it ends at the latest. Unix milliseconds. */
      expiresAt: number;
    }>;
  }>;
  /** Retrieve the signed-in person. Requires a session and neither `Parley-Organization` nor `Parley-Environment`. */
  getMe(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** The person of the session. */
    person: {
      /** Id of the person. */
      id: string;
      /** E-mail address. */
      email: string | null;
      /** Whether the address is proved in all organizations of the person. */
      isEmailProved: boolean;
      /** Name of the person. */
      name: string | null;
      /** Whether the person can sign in with a password. */
      hasPassword: boolean;
    };
    /** Id of this session. */
    sessionId: string;
    /** The organizations of the person, by name. */
    organizations: Array<{
      /** Value of the header `Parley-Organization`. */
      id: string;
      /** The name in commands. */
      slug: string;
      /** The name for people. */
      name: string;
      /** What the person may do in the organization. */
      role: 'admin' | 'member';
      /** Values of the header `Parley-Environment`. */
      environments: Array<'development' | 'production'>;
    }>;
  }>;
  /** Change the password. Ends all other sessions of the person. */
  changePassword(input: {
    /** The password until now. */
    currentPassword: string;
    /** A password of 10 to 200 characters. */
    newPassword: string;
  }, options?: CallOptions): Promise<{
    /** The password is changed. */
    success: true;
  }>;
  /** Change the e-mail address. Changes the address to sign in with, which is not proved at first, and sends an e-mail with a link that proves it, if the organization or the server can. A change ends all other sessions of the person. */
  changeEmail(input: {
    /** E-mail address to sign in with. The present one: only the e-mail to confirm it is sent again. */
    email: string;
    /** The password. */
    password: string;
  }, options?: CallOptions): Promise<{
    /** The person with the address. */
    person: {
      /** Id of the person. */
      id: string;
      /** E-mail address. */
      email: string | null;
      /** Whether the address is proved in all organizations of the person. */
      isEmailProved: boolean;
      /** Name of the person. */
      name: string | null;
      /** Whether the person can sign in with a password. */
      hasPassword: boolean;
    };
    /** Whether the e-mail provider has taken an e-mail with a link that proves the address. */
    isConfirmationSent: boolean;
  }>;
  /** Prove the e-mail address. Uses the link of the e-mail up. The signed-in person must be the one to whom it was sent. The person who proved the address before has not proved it any more, and still signs in with it. */
  confirmEmail(input: {
    /** The last part of the link. */
    token: string;
  }, options?: CallOptions): Promise<{
    /** The address is proved. */
    success: true;
  }>;
  /** Request a link that sets a new password. Sends a link to the address after the answer, if a person has it and the organization or the server can send e-mails. The answer and its time are the same for an unknown address. The link works once, for 30 minutes; a new one ends it. */
  requestPasswordReset(input: {
    /** E-mail address of the person. */
    email: string;
  }, options?: CallOptions): Promise<{
    /** A link is sent if a person has the address. */
    success: true;
  }>;
  /** Show whose password a link sets. */
  showPasswordReset(input: {
    /** The last part of the link. */
    token: string;
  }, options?: CallOptions): Promise<{
    /** The address to sign in with afterwards. Null: the person has none, and `email` is required. */
    email: string | null;
  }>;
  /** Set a new password with a link. Uses the link up, sets the password and ends all sessions of the person, who then signs in. If the link was e-mailed, the address is proved. */
  completePasswordReset(input: {
    /** The last part of the link. */
    token: string;
    /** A password of 10 to 200 characters. */
    password: string;
    /** E-mail address to sign in with, for a person who has none. */
    email?: string;
  }, options?: CallOptions): Promise<{
    /** The password is set. */
    success: true;
  }>;
  /** List members. Lists the people of the organization, in both environments the same. */
  listMembers(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the person. */
      id: string;
      /** E-mail address. */
      email: string | null;
      /** Whether the person has shown to read the mail of the address. Otherwise it is only what the person typed. */
      isEmailProved: boolean;
      /** Name of the person. */
      name: string | null;
      /** What the person may do in the organization. */
      role: 'admin' | 'member';
      /** Whether the identity provider manages the membership. Then its role is changed there. */
      isManaged: boolean;
      /** When the person became a member. Unix milliseconds. */
      createdAt: number;
      /** When the person last used Parley, to five minutes. Unix milliseconds. */
      lastSeenAt: number | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Change the role of a member. The role holds from the next request of the person. */
  changeMember(input: {
    /** Id of the resource. */
    id: string;
  } & {
    /** What the person may do in the organization. */
    role: 'admin' | 'member';
  }, options?: CallOptions): Promise<{
    /** Id of the person. */
    id: string;
    /** E-mail address. */
    email: string | null;
    /** Whether the person has shown to read the mail of the address. Otherwise it is only what the person typed. */
    isEmailProved: boolean;
    /** Name of the person. */
    name: string | null;
    /** What the person may do in the organization. */
    role: 'admin' | 'member';
    /** Whether the identity provider manages the membership. Then its role is changed there. */
    isManaged: boolean;
    /** When the person became a member. Unix milliseconds. */
    createdAt: number;
    /** When the person last used Parley, to five minutes. Unix milliseconds. */
    lastSeenAt: number | null;
  }>;
  /** Remove a member. The next request of the person to this organization is refused, on every process. */
  removeMember(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The person is no member any more. */
    success: true;
  }>;
  /** List invitations. */
  listInvitations(input?: {
    /** The maximum number of items to return. Values above 100 count as 100. */
    limit?: number;
    /** The `cursor` of the page before. */
    cursor?: string;
  }, options?: CallOptions): Promise<{
    /** The items of the page. */
    data: Array<{
      /** Id of the invitation. */
      id: string;
      /** What the person may do in the organization. */
      role: 'admin' | 'member';
      /** Address to which it was sent. */
      email: string | null;
      /** Id of the person who invited. Null: an API key or a command. */
      invitedBy: string | null;
      /** Whether its link works. */
      status: 'open' | 'accepted' | 'revoked' | 'expired';
      /** When it was created. Unix milliseconds. */
      createdAt: number;
      /** When its link stops working. Unix milliseconds. */
      expiresAt: number;
      /** When it was accepted. Unix milliseconds. */
      acceptedAt: number | null;
      /** Id of the person who accepted it. */
      acceptedBy: string | null;
    }>;
    /** Send it as `cursor` to get the next page. */
    cursor: string;
    /** Whether there are items after this page. */
    hasMore: boolean;
  }>;
  /** Invite a person. Creates a link that works once, for 7 days, while its author may invite. With `email` a link is also sent there, if the environment has an e-mail integration. It has a longer token, which proves the address. */
  createInvitation(input: {
    /** What the person may do in the organization. */
    role: 'admin' | 'member';
    /**
     * Address to send the link to. It does not limit who may accept the invitation. The link in the e-mail also proves
     * the address.
     */
    email?: string;
  }, options?: CallOptions): Promise<{
    /** Id of the invitation. */
    id: string;
    /** What the person may do in the organization. */
    role: 'admin' | 'member';
    /** Address to which it was sent. */
    email: string | null;
    /** Id of the person who invited. Null: an API key or a command. */
    invitedBy: string | null;
    /** Whether its link works. */
    status: 'open' | 'accepted' | 'revoked' | 'expired';
    /** When it was created. Unix milliseconds. */
    createdAt: number;
    /** When its link stops working. Unix milliseconds. */
    expiresAt: number;
    /** When it was accepted. Unix milliseconds. */
    acceptedAt: number | null;
    /** Id of the person who accepted it. */
    acceptedBy: string | null;
    /** The link that makes the first person who opens it a member. It is shown once. */
    link: string;
    /** Whether the e-mail provider has taken the link. */
    isEmailed: boolean;
  }>;
  /** Revoke an invitation. Its link stops working. Revoking it again changes nothing. */
  revokeInvitation(input: {
    /** Id of the resource. */
    id: string;
  }, options?: CallOptions): Promise<{
    /** The link does not work. */
    success: true;
  }>;
  /** Show an invitation to its holder. */
  showInvitation(input: {
    /** The last part of the link. */
    token: string;
  }, options?: CallOptions): Promise<{
    /** The organization that the invitation is for. */
    organization: {
      /** The name in commands. */
      slug: string;
      /** The name for people. */
      name: string;
    };
    /** What the person may do in the organization. */
    role: 'admin' | 'member';
    /** Address to which it was sent. */
    email: string | null;
    /** Whether the link is the one of the e-mail, so that joining with the address proves it. */
    isEmailProved: boolean;
    /** When the link stops working. Unix milliseconds. */
    expiresAt: number;
  }>;
  /** Accept an invitation. Makes the signed-in person a member. Without a session, creates a person who signs in with the given e-mail address and password. Several people may have the same address: it is proved by the link in the e-mail. Begins a session and sets its cookie. */
  acceptInvitation(input: {
    /** The last part of the link. */
    token: string;
    /** E-mail address to sign in with. Default: the one of the invitation. Required without both and a session. */
    email?: string;
    /** Name of the person. It is not an e-mail address. */
    name?: string;
    /** A password of 10 to 200 characters. */
    password?: string;
    /**
     * The session does not end by not being used, and lasts 30 days. Otherwise it ends after 7 days without a request.
     */
    keepSignedIn?: boolean;
  }, options?: CallOptions): Promise<{
    /** Id of the session. */
    id: string;
    /** When it ends at the latest. Unix milliseconds. */
    expiresAt: number;
    /** Who signed in. */
    person: {
      /** Id of the person. */
      id: string;
      /** E-mail address. */
      email: string | null;
      /** Whether the address is proved in all organizations of the person. */
      isEmailProved: boolean;
      /** Name of the person. */
      name: string | null;
      /** Whether the person can sign in with a password. */
      hasPassword: boolean;
    };
  }>;
  /** List the secrets of tools. Returns the names of the secrets that are set in the environment and of those that its tools declare. Values are never returned. */
  listToolSecrets(input?: Record<string, never>, options?: CallOptions): Promise<{
    /** The secrets that are set, and those that a tool declares and that are not set, ordered by name. */
    data: Array<{
      /** Name of the secret. */
      name: string;
      /** When its value was last set, in Unix milliseconds. Null if it is not set. */
      setAt: number | null;
      /** Names of the tools that declare it. */
      tools: string[];
    }>;
  }>;
  /** Set a secret of tools. Creates or replaces a secret of the environment. Every call of a tool that begins after the response uses the new value. */
  setToolSecret(input: {
    /** Name of the secret, as in the `secrets` of a tool. */
    name: string;
    /** The value: at least 4 characters and at most 8,192 bytes of UTF-8. It cannot be read again. */
    value: string;
  }, options?: CallOptions): Promise<{
    /** Name of the secret. */
    name: string;
    /** When its value was set, in Unix milliseconds. */
    setAt: number;
  }>;
  /** Delete a secret of tools. Deletes a secret of the environment. Tools that declare it then fail. */
  deleteToolSecret(input: {
    /** Name of the secret, as in the `secrets` of a tool. */
    name: string;
  }, options?: CallOptions): Promise<{
    /** The secret is deleted. */
    success: true;
  }>;
}
