export {
  type ApiKeySummary,
  createApiKey,
  expireApiKey,
  keysOfRoles,
  listApiKeys,
  listEnvironmentKeys,
  lockApiKey,
  revokeApiKey,
} from './api-keys';
export { applyIdentityEvent } from './apply-identity-event';
export { beginPurge } from './begin-purge';
export { createIdentify } from './identify';
export { createLookUpAgain } from './look-up-again';
export {
  type OidcIdentity,
  bindIdentity,
  personOfIdentity,
  personOfWebhook,
} from './oidc-identities';
export { TooManyPasswords, hashPassword } from './password-hash';
export { holdersOfEmail, lockEmail, normalEmail, proveEmail, releaseEmail } from './email-proofs';
export {
  checkPassword,
  emailOfPassword,
  holdPassword,
  preparePasswordChange,
  putPassword,
  saltOfEmail,
} from './passwords';
export {
  type NewPersonLink,
  createPersonLink,
  endPersonLinks,
  findPersonLink,
  personLinkAddress,
  personLinkMinutes,
  usePersonLink,
} from './person-links';
export {
  createSession,
  createSessionCheck,
  endSessions,
  findPerson,
  listSessions,
  organizationsOf,
} from './sessions';
export {
  type Invitation,
  acceptInvitation,
  createInvitation,
  firstAdminMinutes,
  invitationLink,
  invitationMinutes,
  listInvitations,
  lockInvitation,
  revokeFirstLinks,
  revokeInvitation,
} from './invitations';
export {
  type Member,
  addMember,
  changeMemberRole,
  createUser,
  findMember,
  hasOtherAdmin,
  listMembers,
  lockMembers,
  removeMember,
} from './members';
export { type TokenLookUp, createTokenLookUp } from './token-look-up';
export { type KeyLimit } from './unknown-keys';
export { heldPurges } from './held-purges';
export { findOwners } from './find-owner';
export {
  type Organization,
  changeOrganization,
  changeSettings,
  findOrganizationName,
  insertOrganization,
  listOrganizations,
  readOrganization,
  readSettings,
} from './organizations';
export { listMemberEmails } from './memberships';
export {
  type Purge,
  dueUnsignedPurges,
  finishPurge,
  identityPurge,
  listPurges,
  purgesToRun,
  reportPurged,
  stopPurge,
} from './purges';
export {
  type PublishableKey,
  type Website,
  createFindWebsite,
  createPublishableKey,
  listPublishableKeys,
  revokePublishableKey,
  sealedPublishableKeys,
} from './publishable-keys';
export {
  type Visitor,
  anonymousVisitor,
  createVisitorToken,
  identifiedVisitor,
  threadOfVisitor,
  visitorOfToken,
} from './visitors';
