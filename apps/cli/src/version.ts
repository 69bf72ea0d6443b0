// eslint-disable-next-line @nx/enforce-module-boundaries -- the version is defined in the root's package.json only
import manifest from '../../../package.json';

/** The version of this command and of the packages that are released with it. */
export const version: string = manifest.version;
