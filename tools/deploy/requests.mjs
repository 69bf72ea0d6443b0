const units = { '': 1, m: 0.001, k: 1e3, M: 1e6, G: 1e9, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** @param {string | number} quantity of Kubernetes, such as `250m` or `512Mi` */
export function parseQuantity(quantity) {
  const [, number, unit] = /^([\d.]+)(m|k|M|G|Ki|Mi|Gi)?$/.exec(String(quantity));
  return Number(number) * units[unit ?? ''];
}

/**
 * What the scheduler reserves for a pod. Init containers run one after the other,
 * before the others.
 * @param {'cpu' | 'memory'} resource
 * @param {'requests' | 'limits'} [kind]
 */
export function podNeeds({ containers, initContainers = [] }, resource, kind = 'requests') {
  const needs = ({ resources }) => parseQuantity(resources[kind][resource]);
  const sum = containers.map(needs).reduce((a, b) => a + b, 0);
  return Math.max(sum, ...initContainers.map(needs));
}
