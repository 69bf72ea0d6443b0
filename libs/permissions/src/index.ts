export { accessOf, accessWith } from './access-of';
export { actorOf, agentActor, roleListsOf, seesAll } from './actor-of';
export { type Explanation, mayKnow } from './explain-denial';
export { listRoleDefinitions } from './list-role-definitions';
export { type Permissions, listRoles, loadPermissions } from './permissions';
export { type Action, isListed } from './policy';
export { validateRole } from './validate-role';
