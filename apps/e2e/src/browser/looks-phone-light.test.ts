import { testLook } from './looks';

testLook({ width: 390, colorScheme: 'light', locale: 'es-CL' });
