export { createManageClient, iterate } from './manage-client';
export type { InputOf, Page, ResultOf } from './manage-client';
export type { ManageClient } from './generated/management';
