import { BlockList } from 'node:net';

/**
 * Evaluates NetworkPolicies like a cluster, for pods of one namespace and for addresses.
 * Supports what our policies use: pod and namespace selectors, ipBlock with exceptions, ports
 * and port ranges.
 */
export function createReachability(objects) {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
  const selected = (labels, direction) =>
    policies.filter(
      (spec) => matches(spec.podSelector, labels) && spec.policyTypes.includes(direction),
    );

  const allows = (direction, labels, port, isPeer) => {
    const applying = selected(labels, direction);
    if (applying.length === 0) return true; // no policy selects the pod
    const rules = applying.flatMap(
      (spec) => (direction === 'Egress' ? spec.egress : spec.ingress) ?? [],
    );
    return rules.some((rule) => {
      const peers = direction === 'Egress' ? rule.to : rule.from;
      return (
        (peers === undefined || peers.some(isPeer)) &&
        (rule.ports ?? [{}]).some((range) => hasPort(range, port))
      );
    });
  };

  return {
    /**
     * Whether a pod may connect to a pod of the same namespace: the policies of both must allow it.
     */
    toPod: (from, to, port) => {
      const isPod = (labels) => (peer) =>
        !peer.namespaceSelector && !peer.ipBlock && matches(peer.podSelector, labels);
      return allows('Egress', from, port, isPod(to)) && allows('Ingress', to, port, isPod(from));
    },
    /** Whether a pod may connect to an address outside the cluster. */
    toAddress: (from, address, port) =>
      allows('Egress', from, port, ({ ipBlock }) => ipBlock && inBlock(ipBlock, address)),
    /** Whether pods of another namespace may connect to a pod. */
    fromNamespace: (namespace, to, port) =>
      allows('Ingress', to, port, (peer) =>
        matches(peer.namespaceSelector ?? { matchLabels: { none: 'none' } }, {
          'kubernetes.io/metadata.name': namespace,
        }),
      ),
  };
}

function matches(selector, labels) {
  const required = Object.entries(selector?.matchLabels ?? {});
  const expressions = selector?.matchExpressions ?? [];
  return (
    required.every(([name, value]) => labels[name] === value) &&
    expressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new Error(`operator ${operator} is not supported`);
      return values.includes(labels[key]);
    })
  );
}

const hasPort = ({ port, endPort = port }, tested) =>
  port === undefined || (tested >= port && tested <= endPort);

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
