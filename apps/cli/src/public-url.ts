import { findStack, readVariable } from './environment';

/** The address of the gateway for people: PUBLIC_URL, else the running stack. */
export const publicUrlOf = (): string =>
  readVariable('PUBLIC_URL') ?? findStack()?.gatewayUrl ?? 'http://localhost:4000';
