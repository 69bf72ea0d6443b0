import { testLooks } from './looks';

testLooks([
  { width: 1440, colorScheme: 'light', locale: 'en-US' },
  { width: 1440, colorScheme: 'dark', locale: 'es-CL' },
]);
