import { type AgentDefinition, type Scope, ownValue } from '@parley/contracts';
import { type Db, type Queryable, column, newId, statement } from '@parley/db';
import { createHandoff } from './threads/handoff';
import { lockForReply } from './threads/people';
import { firstPosition } from './threads/turn-sql';

/** What an agent says about its failures; null if there is no such agent. */
export type FailingAgent = Pick<AgentDefinition, 'slug' | 'language' | 'onFailure'>;

interface Texts {
  later: string;
  /** When the conversation waits for a person. */
  person: string;
}

const english: Texts = {
  later: "Sorry, I can't answer right now. Please try again later.",
  person: "Sorry, I can't answer right now. A person will reply to you here.",
};

/** By the first part of the language tag. Other languages get English. */
const texts: Readonly<Record<string, Texts>> = {
  en: english,
  es: {
    later: 'Lo siento, ahora no puedo responder. Por favor, inténtalo más tarde.',
    person: 'Lo siento, ahora no puedo responder. Una persona te responderá por aquí.',
  },
  pt: {
    later: 'Desculpe, não consigo responder agora. Tente novamente mais tarde.',
    person: 'Desculpe, não consigo responder agora. Uma pessoa responderá por aqui.',
  },
  fr: {
    later: 'Désolé, je ne peux pas répondre pour le moment. Veuillez réessayer plus tard.',
    person: 'Désolé, je ne peux pas répondre pour le moment. Une personne vous répondra ici.',
  },
  de: {
    later: 'Entschuldigung, ich kann gerade nicht antworten. Bitte versuche es später noch einmal.',
    person: 'Entschuldigung, ich kann gerade nicht antworten. Eine Person antwortet dir hier.',
  },
  it: {
    later: 'Mi dispiace, ora non posso rispondere. Riprova più tardi.',
    person: 'Mi dispiace, ora non posso rispondere. Una persona ti risponderà qui.',
  },
};

/**
 * The text for a person on a channel to whom an agent cannot reply
 * (docs/reference/chat.md#failures).
 */
function failureText({
  language = 'en',
  onFailure,
}: Pick<FailingAgent, 'language' | 'onFailure'>): string {
  if (onFailure?.reply !== undefined) return onFailure.reply;
  const { later, person } = ownValue(texts, language.split('-')[0]!.toLowerCase()) ?? english;
  return onFailure?.handoff ? person : later;
}

/**
 * The same text, after the conversation was handed to a person if the agent's definition says so.
 * Outside the opening hours it is the organization's `closedMessage`. A conversation that waits for
 * a person already stays as it is.
 */
export async function failureReply(
  db: Db,
  scope: Scope,
  agent: FailingAgent | null,
  { threadId, reason }: { threadId: string | null; reason: string },
): Promise<string> {
  const text = failureText(agent ?? {});
  if (agent?.onFailure?.handoff !== true || threadId === null) return text;
  const handoff = createHandoff(db);
  const handed = await handoff(scope, {
    threadId,
    agentSlug: agent.slug,
    reason: `The agent could not answer (${reason})`,
    message: text,
  });
  return handed.ok ? ((handed.result as { reply: string | null }).reply ?? text) : text;
}

const recentReply = statement(
  'thread-has-failure-reply',
  `select true as found from executions e join thread_messages m on m.tenant = $tenant and m.execution_id = e.id
   where e.tenant = $tenant and e.thread_id = $threadId and e.status = 'failed'
     and e.finished_at > now() - interval '1 hour'
     and m.role = 'assistant' and m.tool_calls is null and m.author is null
   limit 1`,
  { found: column.bool },
);

/**
 * What a visitor of a website reads when the turn fails and the agent has `onFailure`; null if
 * the thread has the text of another failure within the last hour. On other channels the caller
 * of the turn decides.
 */
export async function textOfFailure(
  { db }: { db: Db },
  scope: Scope,
  failing: { channel: string; turn: { threadId: string }; agent?: FailingAgent; reason: string },
): Promise<string | null> {
  // Without `onFailure` the chat itself says that there is no answer, in the visitor's language,
  // with a button to try again.
  if (failing.channel !== 'widget' || failing.agent?.onFailure === undefined) return null;
  const { threadId } = failing.turn;
  // Before the text is decided on: each failure asks for a person.
  const text = await failureReply(db, scope, failing.agent, { threadId, reason: failing.reason });
  const { rows } = await db.query(scope, recentReply, { threadId });
  return rows.length > 0 ? null : text;
}

const addReply = statement(
  'add-failure-reply',
  `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
   select $id, $tenant, $threadId, e.id, greatest(${firstPosition}, max(m.position) + 1), 'assistant', $text
   from (select max(id) as id from executions where tenant = $tenant and thread_id = $threadId) e
   join thread_messages m on m.tenant = $tenant and m.execution_id = e.id
   group by e.id`,
);

/**
 * Adds the text to the thread's last turn. False: a person answers the thread, or it was erased.
 */
export async function addFailureReply(
  tx: Queryable,
  scope: Scope,
  { threadId, text }: { threadId: string; text: string },
): Promise<boolean> {
  const state = await lockForReply(tx, scope, threadId);
  if (state === null || state === 'human') return false;
  await tx.query(scope, addReply, { threadId, id: newId('msg'), text });
  return true;
}
