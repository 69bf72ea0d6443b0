import {
  emailOfPassword,
  endPersonLinks,
  endSessions,
  findPerson,
  lockEmail,
  normalEmail,
  preparePasswordChange,
  proveEmail,
  usePersonLink,
} from '@parley/identity';
import { type Handler, conflict, forbidden } from '@parley/service';
import { auditPerson } from '../audit';
import { mailLink } from '../person-mail';
import { clientAddress } from '../sign-in-limit';
import { type PasswordResetDeps, linkEnded } from './password-resets';
import { tooBusy } from './sessions';

interface Handlers {
  changeEmail: Handler<'changeEmail'>;
  confirmEmail: Handler<'confirmEmail'>;
}

/** The e-mail address with which a person signs in. */
export const createEmailAddressHandlers = (deps: PasswordResetDeps): Handlers => ({
  async changeEmail({ body: { email: typed, password } }, context) {
    const { person, request, log } = context;
    const before = await emailOfPassword(deps.db, person.id);
    if (before === null) throw conflict('You sign in without a password', 'no_password');
    const [email, address] = [normalEmail(typed), clientAddress(request, deps.keyLimit)];
    await deps.admitSignIn(before, address);
    // Else the server would send a outsider any number of e-mails.
    await deps.admitReset(email, address);
    const change = await preparePasswordChange(deps.db, person.id, {
      current: password,
      email,
    }).catch(tooBusy);
    if (change === null) throw forbidden('The current password is wrong', 'wrong_password');
    if (email !== before)
      await deps.db.transaction(async (tx) => {
        if (!(await change(tx)))
          throw conflict('The password was changed by another request', 'password_changed');
        await endPersonLinks(tx, person.id);
        await endSessions(tx, person.id, { except: person.sessionId });
        await auditPerson(deps, context, { ...person, email }, tx, 'email.changed');
      });
    const changed = await findPerson(deps.db, person.id);
    const isConfirmationSent =
      !changed.isEmailProved && (await mailLink(deps, log, person.id, { purpose: 'email', email }));
    return { person: changed, isConfirmationSent };
  },

  confirmEmail: ({ body: { token } }, context) =>
    deps.db.transaction(async (tx) => {
      const { person } = context;
      const email = await emailOfPassword(tx, person.id);
      if (email === null) throw linkEnded();
      // In the order of a change of the address: the address, the password, the links.
      await lockEmail(tx, email);
      const link = await usePersonLink(tx, 'email', token);
      if (link === null || link.userId !== person.id || link.email !== email) throw linkEnded();
      await proveEmail(tx, person.id, email, link.proofTenant);
      await auditPerson(deps, context, { ...person, email }, tx, 'email.confirmed');
      return { success: true };
    }),
});
