import { testLook } from './looks';

testLook({ width: 1440, colorScheme: 'dark', locale: 'es-CL' });
