import { testLook } from './looks';

testLook({ width: 390, colorScheme: 'dark', locale: 'en-US' });
