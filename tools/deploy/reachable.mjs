import { BlockList } from 'node:net';

/**
 * What NetworkPolicies allow, as a cluster would decide it for pods of one namespace and for addresses. Knows what our
 * policies use: pod and namespace selectors, ipBlock with exceptions, ports and port ranges.
 */
export function createReachability(objects) {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
  const selected = (labels, direction) =>
    policies.filter((spec) => matches(spec.podSelector, labels) && spec.policyTypes.includes(direction));

  const allows = (direction, labels, port, isPeer) => {
    const applying = selected(labels, direction);
    if (applying.length === 0) return true; // nothing isolates the pod
    const rules = applying.flatMap((spec) => (direction === 'Egress' ? spec.egress : spec.ingress) ?? []);
    return rules.some((rule) => {
      const peers = direction === 'Egress' ? rule.to : rule.from;
      return (peers === undefined || peers.some(isPeer)) && (rule.ports ?? [{}]).some((range) => hasPort(range, port));
    });
  };

  return {
    /** Whether a pod may open a connection to a pod of the same namespace: both ends must agree. */
    toPod: (from, to, port) => {
      const isPod = (labels) => (peer) => !peer.namespaceSelector && !peer.ipBlock && matches(peer.podSelector, labels);
      return allows('Egress', from, port, isPod(to)) && allows('Ingress', to, port, isPod(from));
    },
    /** Whether a pod may open a connection to an address outside the cluster. */
    toAddress: (from, address, port) =>
      allows('Egress', from, port, ({ ipBlock }) => ipBlock && inBlock(ipBlock, address)),
    /** Whether pods of another namespace may open a connection to a pod. */
    fromNamespace: (namespace, to, port) =>
      allows('Ingress', to, port, (peer) =>
        matches(peer.namespaceSelector ?? { matchLabels: { none: 'none' } }, {
          'kubernetes.io/metadata.name': namespace,
        }),
      ),
  };
}

function matches(selector, labels) {
  const wanted = Object.entries(selector?.matchLabels ?? {});
  const expressions = selector?.matchExpressions ?? [];
  return (
    wanted.every(([name, value]) => labels[name] === value) &&
    expressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new Error(`operator ${operator} is not known here`);
      return values.includes(labels[key]);
    })
  );
}

const hasPort = ({ port, endPort = port }, wanted) => port === undefined || (wanted >= port && wanted <= endPort);

function inBlock({ cidr, except = [] }, address) {
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  const holds = (range) => {
    const [network, bits] = range.split('/');
    if (network.includes(':') !== (family === 'ipv6')) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family);
    return list.check(address, family);
  };
  return holds(cidr) && !except.some(holds);
}
