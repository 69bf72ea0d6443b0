#!/usr/bin/env bash
# tools/without-egress.sh <command…>: runs a command with all outbound traffic blocked and fails when any was tried.
# Linux, as root: the command gets a network of its own, whose only way out counts and drops. For example
#   tools/without-egress.sh npx jest -c apps/e2e/jest.config.cjs
set -euo pipefail
if [ "${PARLEY_WITHOUT_EGRESS:-}" != inside ]; then
  exec env PARLEY_WITHOUT_EGRESS=inside unshare --net "$0" "$@"
fi
ip link set lo up
ip link add out0 type veth peer name out1
ip address add 10.99.0.2/24 dev out0
ip link set out0 up
ip link set out1 up
ip route add default via 10.99.0.1
iptables -A OUTPUT ! -o lo -j DROP
status=0
"$@" || status=$?
tried=$(iptables -L OUTPUT -v -n -x | awk '/DROP/ {print $1}')
echo "outbound packets that were tried: $tried"
[ "$tried" = 0 ] && exit "$status"
exit 1
