import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
/**
 * Kinds that an operator of the cluster installs. Their objects are checked by the tests of
 * their components.
 */
const custom = /^(gateway\.networking\.k8s\.io|keda\.sh|monitoring\.coreos\.com)\//;

/**
 * Throws when an object is not valid by the schema of its kind, for example
 * kubernetes-models/apps/v1/Deployment.
 */
export function validate(object) {
  const { apiVersion, kind, metadata } = object;
  if (custom.test(apiVersion)) return;
  const { [kind]: Model } = require(`kubernetes-models/${apiVersion}/${kind}`);
  try {
    new Model(object).validate();
  } catch (error) {
    throw new Error(`${kind}/${metadata.name}: ${error.message}`, { cause: error });
  }
}
