import { testLooks } from './looks';

testLooks([
  { width: 390, colorScheme: 'light', locale: 'es-CL' },
  { width: 390, colorScheme: 'dark', locale: 'en-US' },
]);
