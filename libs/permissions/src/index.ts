export { accessOf, accessWith } from './access-of';
export { type Permissions, loadPermissions } from './permissions';
export { type Action, isListed } from './policy';
export { validateRole } from './validate-role';
