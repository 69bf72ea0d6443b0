import { isPublicAddress } from './address-policy';
import { decideTarget } from './target-policy';

/** Hosts of addresses that are not on the public internet. */
const privateHosts = `
0.0.0.0 0.0.0.1 0.1.2.3 0 0x0 00 0.0 127.0.0.1 127.0.0.2 127.1 127.0.1 127.255.255.254 127.127.127.127
2130706433 0x7f000001 0x7F000001 017700000001 0177.0.0.1 0177.0.0.01 0x7f.0.0.1 0x7f.1 0x7f.0x0.0x0.0x1 0x7f.0.1
127.0.0.1. 127.000.000.001 0177.0x0.0.1 00000177.0.0.1 0x000000007f.1 ①②⑦.⓪.⓪.① 127。0。0。1 127.0.0.1%2e
10.0.0.1 10.255.255.255 10.1 0xa.1 012.0.0.1 167772161 0x0a000001 10.0.0.1.
172.16.0.1 172.31.255.255 172.16.1 0xac.0x10.0.1 2886729729 0254.16.0.1
192.168.0.1 192.168.255.255 192.168.1 0xc0.0xa8.1 3232235521 0300.0250.0.1 0xc0a80001
169.254.169.254 169.254.0.1 169.254.170.2 169.254.169.253 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.16689662
0xa9.0xfe.0xa9.0xfe 169.254.43518 169.254.169.123 169.254.42.42
100.64.0.1 100.127.255.255 100.100.100.200 100.64.1 1684300900 0x64646464c8 168.63.129.16 0xa83f8110
192.0.0.1 192.0.0.192 192.0.0.170 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9
224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 4294967295 0xffffffff 254.1.2.3
[::] [::1] [0:0:0:0:0:0:0:0] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0.0.0.1]
[::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:1] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:10.0.0.1] [::ffff:a00:1]
[::ffff:192.168.1.1] [::ffff:172.16.0.1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [::ffff:100.64.0.1]
[::ffff:0.0.0.0] [::ffff:224.0.0.1] [::ffff:168.63.129.16] [::ffff:0:127.0.0.1] [::ffff:0:a9fe:a9fe]
[::127.0.0.1] [::7f00:1] [::10.0.0.1] [::169.254.169.254] [::192.168.0.1]
[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b::169.254.169.254] [64:ff9b::c0a8:1]
[64:ff9b:1::1] [64:ff9b:1::8.8.8.8] [64:ff9b::1:8.8.8.8]
[2002:7f00:1::] [2002:7f00:1::1] [2002:a00:1::] [2002:a9fe:a9fe::] [2002:c0a8:1::] [2002:ac10:1::1] [2002:6440:1::]
[2001:0:4136:e378:8000:63bf:80ff:fffe] [2001:0:7f00:1:8000:63bf:f7f7:f7f7] [2001:0:a00:1::f7f7:f7f7]
[2002:808:808::1] [2002:808:808::808:808] [2001:0:808:808:0:0:f7f7:f7f7] [2001:0:808:808::5601:5601] [2001:0:808:808::f5ff:fffe]
[2606:4700::5efe:127.0.0.1] [2606:4700::5efe:10.0.0.1] [2606:4700::200:5efe:169.254.169.254]
[fc00::1] [fd00::1] [fd00:ec2::254] [fdff:ffff::1] [fd20:ce::254] [fe80::1] [fe80::a9fe:a9fe] [febf::1] [fec0::1]
[feff::1] [fe80::1%25eth0] [fe80::1%eth0] [::1%251] [ff02::1] [ff05::1:3] [ff0e::1] [100::1] [100::ffff]
[2001:db8::1] [2001:db8:ffff::1] [3fff::1] [2001:2::1] [2001:10::1] [2001:20::1] [2001:30::1] [5f00::1]
[4000::1] [8000::1] [c000::1] [e000::1] [1::1] [200::1] [2620:4f:8000::1] [::fffe:7f00:1] [::2:3:4]
localhost LOCALHOST localhost. foo.localhost app.local printer.lan metadata metadata.google.internal
instance-data instance-data.ec2.internal chat chat.default.svc chat.default.svc.cluster.local
kubernetes.default.svc wiki.intranet router.home.arpa tool-executor ip6-localhost host.docker.internal
`
  .trim()
  .split(/\s+/);

const publicHosts = `
1.1.1.1 8.8.8.8 9.9.9.9 93.184.216.34 172.15.255.255 172.32.0.1 192.167.255.255 192.169.0.1 11.0.0.1 126.255.255.255
128.0.0.1 100.63.255.255 100.128.0.1 169.253.255.255 169.255.0.1 198.17.255.255 198.20.0.1 223.255.255.255 168.63.129.17
134744072 0x08080808 010.010.010.010 8.8.2056 192.0.1.1 203.0.114.1
[2606:4700:4700::1111] [2001:4860:4860::8888] [2a00:1450:4001:81b::200e] [2620:fe::fe] [2400:cb00::1] [2003::1]
[::ffff:8.8.8.8] [::ffff:808:808] [64:ff9b::8.8.8.8] [64:ff9b::808:808] [::ffff:0:8.8.8.8]
[2606:4700::5efe:8.8.8.8]
example.com EXAMPLE.com www.example.org. api.example.co.uk xn--mnchen-3ya.de münchen.de localhost.example.com
internal.example.com 127.0.0.1.example.com local.example a-b.example.net
`
  .trim()
  .split(/\s+/);

const decide = (url: string, allowedHosts?: string[]) =>
  decideTarget(url, { allowedHosts, allowedPrivate: new Set(['dev.test:8080', '127.0.0.1:4010']) });

it('has at least 150 different hosts that are not public', () => {
  expect(privateHosts.length).toBeGreaterThanOrEqual(150);
  expect(new Set(privateHosts).size).toBe(privateHosts.length);
});

it.each(privateHosts)('refuses %s', (host) => {
  expect(decide(`http://${host}/`)).toMatchObject({ ok: false });
  expect(decide(`https://${host}:8443/latest/meta-data`)).toMatchObject({ ok: false });
});

it.each(publicHosts)('accepts %s', (host) => {
  expect(decide(`http://${host}/`)).toMatchObject({ ok: true, isPrivateAllowed: false });
  expect(decide(`https://${host}:8443/a?b=c#d`)).toMatchObject({ ok: true });
});

it.each([
  '',
  'localhost',
  '127.0.0.1:80',
  '::1%lo',
  'fe80::1%eth0',
  '2606:4700::1%1',
  '0x7f.1',
  '1.2.3',
  'example.com',
])('does not accept %j as an address', (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

it.each([
  ['file:///etc/passwd', 'Only http and https'],
  ['ftp://example.com/', 'Only http and https'],
  ['gopher://example.com:70/_', 'Only http and https'],
  ['data:text/plain,x', 'Only http and https'],
  ['blob:https://example.com/1', 'Only http and https'],
  ['unix:/var/run/docker.sock', 'Only http and https'],
  ['http://user@example.com/', 'Credentials'],
  ['http://user:pass@example.com/', 'Credentials'],
  ['http://example.com@127.0.0.1/', 'Credentials'],
  ['http://example.com:22/', 'Port not allowed: 22'],
  ['http://example.com:25/', 'Port not allowed: 25'],
  ['http://example.com:6379/', 'Port not allowed: 6379'],
  ['https://example.com:5432/', 'Port not allowed: 5432'],
])('refuses %s', (url, message) => {
  expect(decide(url)).toMatchObject({
    ok: false,
    reason: 'refused',
    message: expect.stringContaining(message),
  });
});

it.each([
  '',
  'example.com',
  '//example.com',
  'http://',
  'http://a b/',
  'http://[::1',
  'http://1.2.3.4.5.6:x/',
])('refuses %j as an invalid URL', (url) => {
  expect(decide(url)).toMatchObject({ ok: false, reason: 'invalid_url' });
});

it('parses a backslash and a tab like a browser, so that they cannot hide a host', () => {
  expect(decide('http://example.com\\@127.0.0.1/')).toMatchObject({
    ok: true,
    url: { hostname: 'example.com' },
  });
  expect(decide('http://127.0.\t0.1/')).toMatchObject({ ok: false });
  expect(decide('http:\\\\127.0.0.1\\x')).toMatchObject({ ok: false });
});

it.each([
  ['https://api.example.com/', ['api.example.com'], true],
  ['https://API.example.com./', ['api.EXAMPLE.com'], true],
  ['https://api.example.com/', ['*.example.com'], true],
  ['https://a.b.example.com/', ['*.example.com'], true],
  ['https://example.com/', ['*.example.com'], false],
  ['https://evilexample.com/', ['*.example.com'], false],
  ['https://evil-example.com/', ['example.com'], false],
  ['https://api.example.com.evil.org/', ['api.example.com', '*.example.com'], false],
  ['https://example.com/', [], false],
  ['https://127.0.0.1/', ['127.0.0.1'], false],
])('%s with allowedHosts %j', (url, allowedHosts, ok) => {
  expect(decide(url, allowedHosts).ok).toBe(ok);
});

it('accepts only the private hosts that are listed', () => {
  expect(decide('http://127.0.0.1:4010/')).toMatchObject({ ok: true, isPrivateAllowed: true });
  expect(decide('http://dev.test:8080/')).toMatchObject({ ok: true, isPrivateAllowed: true });
  expect(decide('http://127.0.0.1:4011/')).toMatchObject({ ok: false });
  expect(decide('http://127.0.0.1:4010/', ['example.com'])).toMatchObject({ ok: false });
});
