export { freePort } from '@parley/embedded';
export { countStatements, countStatementsRepeatedly } from './count-statements';
export { createTestDatabase, openTestDatabase, type TestDatabase } from './database';
export { fillDisk } from './fill-disk';
export { type OpenEventStream, type ReceivedEvent, openEventStream } from './open-event-stream';
export { genericPlans, scansOf } from './generic-plans';
export { parseStateTable } from './parse-state-table';
export { type TestRedis, ageRequests, createTestRedis } from './redis';
export {
  type CollectedSpan,
  type CollectorServer,
  startCollectorServer,
} from './providers/collector-server';
export { type FlowServer, type FlowServerOrder, startFlowServer } from './providers/flow-server';
export { type ModelServer, startModelServer } from './model-server/model-server';
export { type ModelServerReply } from './model-server/protocol';
export { type Quirk, quirksOf } from './model-server/quirks';
export { type ServiceName, type Stack, type StackOptions, startStack } from './stack/start-stack';
export { type SeededOrganization, seedOrganization } from './seed-organization';
export { type KapsoServer, startKapsoServer } from './providers/kapso-server';
export {
  type ProviderAnswer,
  type ProviderRequest,
  type ProviderServer,
  startProviderServer,
} from './providers/provider-server';
export { rounds } from './rounds';
export { type OidcServer, startOidcServer } from './providers/oidc-server';
export { type ResendServer, startResendServer } from './providers/resend-server';
export { seedPerson } from './seed-person';
export { type PostgresPair, startPostgresPair } from './standby';
export { type Sentinels, startSentinels } from './start-sentinels';
export { type TcpProxy, startTcpProxy } from './tcp-proxy';
export { until } from './until';
export { runTriggerChaos } from './trigger-chaos';
