// Loaded before a service of the suite: writes down each address outside this machine that it connects to or asks for.
const { appendFileSync } = require('node:fs');
const dns = require('node:dns');
const { Socket, isIP } = require('node:net');

const isHere = (host) => /^(([\w-]+\.)*localhost|127\.[\d.]+|::1|::ffff:127\.[\d.]+)$/i.test(host);
const note = (what) => appendFileSync(process.env.PARLEY_TEST_EGRESS, `${process.argv[1]}: ${what}\n`);

const { connect } = Socket.prototype;
Socket.prototype.connect = function (...given) {
  const [options] = Array.isArray(given[0]) ? given[0] : given;
  const { host, path } = typeof options === 'object' ? options : { host: given[1] };
  if (!path && typeof host === 'string' && isIP(host) !== 0 && !isHere(host)) note(`connects to ${host}`);
  return connect.apply(this, given);
};
for (const [owner, name] of [
  [dns, 'lookup'],
  [dns.promises, 'lookup'],
]) {
  const ask = owner[name];
  owner[name] = (host, ...rest) => {
    if (!isHere(host) && isIP(host) === 0) note(`asks for ${host}`);
    return ask(host, ...rest);
  };
}
