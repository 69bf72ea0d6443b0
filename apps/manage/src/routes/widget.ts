import { anonymousVisitor, createVisitorToken, identifiedVisitor } from '@parley/identity';
import { type Handler, unauthorized } from '@parley/service';
import { type VisitorDeps, admit, openDoor } from '../visitors';

interface Handlers {
  createVisitorSession: Handler<'createVisitorSession'>;
}

export const createWidgetHandlers = (deps: VisitorDeps): Handlers => ({
  async createVisitorSession({ query: { key }, body: { visitorId: known, identity } }, context) {
    const { door, origin } = await openDoor(deps, context, key);
    const { visitor, visitorId } =
      identity === undefined
        ? anonymousVisitor(known)
        : { visitor: await identifiedVisitor(door, identity), visitorId: null };
    if (visitor === null) throw unauthorized('invalid_identity');
    await admit(deps, context, door, visitor);
    const { token, expiresAt } = await createVisitorToken(door, visitor, origin);
    return { token, expiresAt: expiresAt.getTime(), visitorId };
  },
});
