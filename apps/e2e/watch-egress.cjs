// Loaded into each service of the suite: records connections and DNS lookups to addresses outside
// of this machine.
const { appendFileSync } = require('node:fs');
const dns = require('node:dns');
const { Socket, isIP } = require('node:net');

const isLocal = (host) => /^(([\w-]+\.)*localhost|127\.[\d.]+|::1|::ffff:127\.[\d.]+)$/i.test(host);
const record = (what) =>
  appendFileSync(process.env.PARLEY_TEST_EGRESS, `${process.argv[1]}: ${what}\n`);

const { connect } = Socket.prototype;
Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const { host, path } = typeof options === 'object' ? options : { host: given[1] };
  if (!path && typeof host === 'string' && isIP(host) !== 0 && !isLocal(host))
    record(`connects to ${host}`);
  return connect.apply(this, given);
};
for (const [owner, name] of [
  [dns, 'lookup'],
  [dns.promises, 'lookup'],
]) {
  const lookup = owner[name];
  owner[name] = (host, ...rest) => {
    if (!isLocal(host) && isIP(host) === 0) record(`looks up ${host}`);
    return lookup(host, ...rest);
  };
}
