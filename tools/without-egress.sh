#!/usr/bin/env bash
# tools/without-egress.sh <command…>: runs a command with all outbound traffic blocked and fails when it tried any.
# Requires Linux and root. The command runs in its own network namespace, where outbound packets, including requests to a
# local resolver, are counted and dropped. For example
#   tools/without-egress.sh npx jest -c apps/e2e/jest.config.cjs
set -euo pipefail
if [ "${PARLEY_WITHOUT_EGRESS:-}" != inside ]; then
  exec env PARLEY_WITHOUT_EGRESS=inside unshare --net "$0" "$@"
fi
ip link set lo up
ip link add out0 type veth peer name out1
ip address add 10.99.0.2/24 dev out0
ip -6 address add fd99::2/64 dev out0 nodad
ip link set out0 up
ip link set out1 up
ip route add default via 10.99.0.1
ip -6 route add default via fd99::1
for protocol in udp tcp; do
  # Only UDP and TCP count: the kernel itself sends ICMP over IPv6.
  ip6tables -A OUTPUT ! -o lo -p "$protocol" -j DROP
  for tables in iptables ip6tables; do
    "$tables" -A OUTPUT -o lo -p "$protocol" --dport 53 -j DROP
  done
done
iptables -A OUTPUT ! -o lo -j DROP
status=0
"$@" || status=$?
tried=$({ iptables -L OUTPUT -v -n -x && ip6tables -L OUTPUT -v -n -x; } | awk '/DROP/ {sum += $1} END {print sum}')
echo "outbound packets: $tried"
[ "$tried" = 0 ] && exit "$status"
exit 1
