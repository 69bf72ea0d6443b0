import { testLook } from './looks';

testLook({ width: 1440, colorScheme: 'light', locale: 'en-US' });
