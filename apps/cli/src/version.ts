// eslint-disable-next-line @nx/enforce-module-boundaries -- the version stands in the root's package.json and nowhere else
import manifest from '../../../package.json';

/** Of this command and of the packages that belong to it. */
export const version: string = manifest.version;
